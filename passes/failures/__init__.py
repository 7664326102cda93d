"""One file for each failure of IREE that a dispatch's configuration or generated code shows; `docs/add-a-failure.md`."""
