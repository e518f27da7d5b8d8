"""The simulation of a price, in NumPy: the model that the benchmark gives it on
standard input, as many times as asked. It prints the median of the seconds and
what came out, to be compared."""

import json
import sys
import time

import numpy as np


def simulate(model, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    n, lines = model["iterations"], len(model["material"])
    load = model["load"]
    market = rng.standard_normal((n, 3)) @ np.array(load["market"]).T
    trades = load["trade"] * rng.standard_normal((2, n, model["trades"]))
    trade = np.array(model["trade"])
    own = load["own"]

    def factor(kind, shared):
        below, above = (np.array(model["spread"][kind][side]) for side in ("below", "above"))
        z = shared + own[kind] * rng.standard_normal((n, lines))
        return np.exp(np.where(z < 0, below, above) * z)

    quantity = factor(2, market[:, 2:3])
    material = np.array(model["material"]) * factor(0, market[:, 0:1] + trades[0][:, trade]) * quantity
    labor = np.array(model["labor"]) * factor(1, market[:, 1:2] + trades[1][:, trade]) * quantity
    cost = material + labor
    direct, wages, goods = cost.sum(axis=1), labor.sum(axis=1), material.sum(axis=1)
    impacts = []
    for event in model["events"]:
        happens = rng.standard_normal(n) < event["threshold"]
        severity = rng.standard_normal(n)
        spread = np.where(severity < 0, event["below"], event["above"])
        impacts.append(happens * event["impact"] * np.exp(spread * severity) * direct)
    cost = np.column_stack([cost] + impacts)
    total = model["scale"] * cost.sum(axis=1)
    by_trade = np.stack([np.sort(labor[:, trade == t].sum(axis=1)) for t in range(model["trades"])])
    away = total - total.mean()
    shares = away @ (model["scale"] * cost) / n / total.var()
    widest = np.argsort(-cost.std(axis=0))[:14]
    ranks = np.argsort(np.argsort(total)).astype(float)
    rho = [np.corrcoef(np.argsort(np.argsort(cost[:, c])), ranks)[0, 1] for c in widest]
    swings = np.percentile(cost[:, widest], [10, 90], axis=0)
    histogram = np.histogram(total, bins=20)
    p = np.percentile(total, [10, 50, 80, 90])
    _ = (wages, goods, by_trade, rho, swings, histogram)
    return p, total.mean(), shares.sum()


def main():
    model = json.load(sys.stdin)
    seconds = []
    for seed in range(model["rounds"]):
        began = time.perf_counter()
        p, mean, shares = simulate(model, seed)
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": float(np.median(seconds)), "p80": float(p[2]), "mean": float(mean), "shares": float(shares)}))


main()
