"""IREE stops on the dispatch with a message, crashes, or does not end."""
