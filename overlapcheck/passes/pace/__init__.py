"""The program's own pace, and what the recording took beyond it."""
