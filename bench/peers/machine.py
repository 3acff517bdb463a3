"""The machine that a run is of, as its JSON has it: {"context": machine(...), "cases": records}."""
import os
import re
import time


def machine(**more):
    with open("/proc/cpuinfo") as f:
        cpu = re.search(r"model name\s*: (.*)", f.read())
    return {"date": time.strftime("%Y-%m-%dT%H:%M:%S"), "cpu": cpu.group(1) if cpu else "", "cores": len(os.sched_getaffinity(0)), "load": " ".join(f"{load:.1f}" for load in os.getloadavg()), **more}
