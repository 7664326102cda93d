"""Exported models of one or two layers, of language, speech and images: do they enter, compile, and agree with PyTorch?

    python -m bench.exported_models                      all of MODELS on llvm-cpu and gfx942
    python -m bench.exported_models --model bert --target llvm-cpu --docs

Needs PyTorch, transformers and iree-turbine, which are no dependencies of fissile. Weights are random and seeded; the architectures
are those of transformers, as `torch.export` writes them (`model.pt2`). Exit status: 0 every model compiled for every target and agrees, 1 not.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fissile.passes.iree.targets import flags_for
from fissile.pipelines.compile.entry import compile as compile_guarded
from fissile.pipelines.targets import resolve_target

from .measured_tables import write_table

TARGETS = ("llvm-cpu", "gfx942")
RUNS_ON = "llvm-cpu"
TOLERANCE = 1e-4
"""Of the largest output: float32, sums of some hundred products in another order."""
_SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 256,
    "max_position_embeddings": 64,
}


def _bert(transformers: Any) -> Any:
    return transformers.BertModel(transformers.BertConfig(**_SMALL))


def _gpt2(transformers: Any) -> Any:
    config = transformers.GPT2Config(
        n_embd=64, n_layer=2, n_head=4, vocab_size=256, n_positions=64, use_cache=False
    )
    return transformers.GPT2LMHeadModel(config)


def _llama(transformers: Any) -> Any:
    config = transformers.LlamaConfig(**_SMALL, num_key_value_heads=2, use_cache=False)
    return transformers.LlamaForCausalLM(config)


def _qwen2(transformers: Any) -> Any:
    config = transformers.Qwen2Config(**_SMALL, num_key_value_heads=2, use_cache=False)
    return transformers.Qwen2ForCausalLM(config)


def _whisper(transformers: Any) -> Any:
    config = transformers.WhisperConfig(
        d_model=64,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        vocab_size=256,
        num_mel_bins=16,
        max_source_positions=32,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        use_cache=False,
    )
    return transformers.WhisperForConditionalGeneration(config)


def _fnet(transformers: Any) -> Any:
    sizes = {key: value for key, value in _SMALL.items() if key != "num_attention_heads"}
    return transformers.FNetModel(transformers.FNetConfig(**sizes))


def _mixtral(transformers: Any) -> Any:
    config = transformers.MixtralConfig(**_SMALL, num_key_value_heads=2, num_local_experts=4, use_cache=False)
    return transformers.MixtralForCausalLM(config)


def _deepseek_v3(transformers: Any) -> Any:
    config = transformers.DeepseekV3Config(
        **_SMALL,
        num_key_value_heads=4,
        moe_intermediate_size=32,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_group=2,
        topk_group=1,
        kv_lora_rank=16,
        q_lora_rank=16,
        qk_rope_head_dim=8,
        qk_nope_head_dim=8,
        v_head_dim=16,
        first_k_dense_replace=1,
        n_shared_experts=1,
        use_cache=False,
    )
    return transformers.DeepseekV3ForCausalLM(config)


def _mamba2(transformers: Any) -> Any:
    config = transformers.Mamba2Config(
        hidden_size=32, num_hidden_layers=2, vocab_size=256, state_size=4, num_heads=8, head_dim=8, n_groups=1,
        chunk_size=4, use_cache=False,
    )  # fmt: skip
    return transformers.Mamba2ForCausalLM(config)


def _glpn(transformers: Any) -> Any:
    config = transformers.GLPNConfig(
        hidden_sizes=[8, 8, 16, 16],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 1, 2, 2],
        decoder_hidden_size=8,
    )
    return transformers.GLPNForDepthEstimation(config)


MODELS: dict[str, Callable[[Any], Any]] = {
    "bert": _bert,
    "deepseek-v3": _deepseek_v3,
    "fnet": _fnet,
    "glpn": _glpn,
    "gpt2": _gpt2,
    "llama": _llama,
    "mamba2": _mamba2,
    "mixtral": _mixtral,
    "qwen2": _qwen2,
    "whisper": _whisper,
}
OF_TOKENS_ALONE = ("fnet", "mamba2")
"""Models without an attention mask."""
OF_IMAGES = ("glpn",)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", action="append", choices=MODELS, help="default: all")
    parser.add_argument("--target", action="append", help=f"default: {', '.join(TARGETS)}")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/front-ends.md")
    args = parser.parse_args()
    rows = [_row(name, args.target or TARGETS) for name in args.model or MODELS]
    header = [f"| model | {' | '.join(args.target or TARGETS)} | largest difference from PyTorch |"]
    header.append("|" + " --- |" * (len(args.target or TARGETS) + 2))
    if args.docs:
        write_table("front-ends.md", "exported", "\n".join([*header, *(line for line, _good in rows)]))
    return int(not all(good for _line, good in rows))


def _row(name: str, targets: list[str] | tuple[str, ...]) -> tuple[str, bool]:
    import torch
    import transformers

    torch.manual_seed(0)
    model = MODELS[name](transformers).eval()
    program, arguments = _wrapped(name, model)
    with torch.no_grad():
        expected = program(*arguments).numpy()
    cells, difference = [], "not run"
    with tempfile.TemporaryDirectory(prefix="fissile-exported-") as folder:
        file = Path(folder, "model.pt2")
        torch.export.save(torch.export.export(program, arguments), file)
        good = True
        for target in targets:
            output = Path(folder, f"{target}.vmfb")
            report = compile_guarded(file, output, [*flags_for(resolve_target(target)), "--guard=off"])
            ops = sorted({f.subject for f in report.findings if f.code == "FIS421" and f.subject})
            cells.append("; ".join(["compiles" if not report.errors else report.errors[0].message, *ops]))
            good = good and not report.errors
            if target == RUNS_ON and not report.errors:
                relative = _difference(output, arguments, expected)
                good = good and relative <= TOLERANCE
                difference = f"{relative:.1e} of the largest value"
    line = f"| {name} | {' | '.join(cells)} | {difference} |"
    print(line, flush=True)
    return line, good


def _wrapped(name: str, model: Any) -> tuple[Any, tuple]:
    """A module of one result, and its arguments."""
    import torch

    class Program(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs):
            if name == "whisper":
                return self.model(input_features=inputs[0], decoder_input_ids=inputs[1]).logits
            if name in OF_IMAGES:
                return self.model(pixel_values=inputs[0]).predicted_depth
            names = ("input_ids", "attention_mask")
            result = self.model(**dict(zip(names, inputs, strict=False)))
            return result.last_hidden_state if name in ("bert", "fnet") else result.logits

    if name in OF_IMAGES:
        return Program().eval(), (torch.linspace(-1, 1, 3 * 64 * 64).reshape(1, 3, 64, 64),)
    tokens = torch.arange(16).reshape(1, 16) * 7 % 256
    if name == "whisper":
        return Program().eval(), (torch.linspace(-1, 1, 16 * 64).reshape(1, 16, 64), tokens[:, :8])
    masks = () if name in OF_TOKENS_ALONE else (torch.ones_like(tokens),)
    return Program().eval(), (tokens, *masks)


def _difference(vmfb: Path, arguments: tuple, expected: np.ndarray) -> float:
    import iree.runtime as runtime

    module = runtime.load_vm_flatbuffer_file(os.fspath(vmfb), driver="local-sync")
    got = module.main(*(one.numpy() for one in arguments)).to_host()
    return float(np.max(np.abs(got - expected)) / np.max(np.abs(expected)))


if __name__ == "__main__":
    sys.exit(main())
