"""Collectives of NCCL with one rank: under torchrun."""

import torch
import torch.distributed as dist
from figures import figures

torch.cuda.set_device(0)
dist.init_process_group("nccl", device_id=torch.device("cuda:0"))
model = torch.nn.parallel.DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8)).cuda()
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
group = dist.new_group([0])
for _ in range(3):
    model(torch.ones(64, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    many = torch.ones(1 << 20, device="cuda")
    other = torch.empty_like(many)
    dist.all_reduce(many)
    dist.all_reduce(many, op=dist.ReduceOp.AVG, group=group)
    work = dist.all_gather_into_tensor(other, many, async_op=True)
    work.wait()
    dist.reduce_scatter_tensor(other, many)
    dist.broadcast(many, 0)
    dist.all_to_all_single(other, many)
    dist.all_gather([other], many)
    with (
        dist._coalescing_manager(device=torch.device("cuda:0"))
        if hasattr(dist, "_coalescing_manager")
        else torch.no_grad()
    ):
        dist.all_reduce(many)
        dist.all_reduce(other)
    dist.barrier()
    torch.cuda.synchronize()
figures("end")
dist.destroy_process_group()
