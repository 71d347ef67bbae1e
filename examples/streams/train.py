"""Trains on batches that are copied one step ahead, and keeps each batch as it left the device."""

import torch

STEPS, ROWS, WIDTH = 15, 8192, 8192


def model():
    """Four wide layers."""
    layers = []
    for _ in range(4):
        layers += [torch.nn.Linear(WIDTH, WIDTH, bias=False), torch.nn.GELU()]
    return torch.nn.Sequential(*layers).to("cuda", torch.bfloat16)


def main():
    """Train."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
    pinned = [torch.randn(ROWS, WIDTH).to(torch.bfloat16).pin_memory() for _ in range(3)]
    compute, loading = torch.cuda.current_stream(), torch.cuda.Stream()
    saving = torch.cuda.Stream()
    kept = torch.empty(ROWS, WIDTH, dtype=torch.bfloat16, pin_memory=True)

    def load(step):
        with torch.cuda.stream(loading):
            return pinned[step % 3].to("cuda", non_blocking=True)

    following = load(0)
    for step in range(STEPS):
        torch.cuda.nvtx.range_push(f"step {step}")
        compute.wait_stream(loading)
        batch = following
        batch.record_stream(compute)
        following = load(step + 1)
        loss = net(batch).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        saving.wait_stream(compute)
        batch.record_stream(saving)
        with torch.cuda.stream(saving):
            kept.copy_(batch, non_blocking=True)
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
