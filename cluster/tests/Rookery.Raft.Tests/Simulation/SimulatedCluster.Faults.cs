namespace Rookery.Raft.Tests.Simulation;

/// <summary>What goes wrong, as a profile has it.</summary>
internal sealed partial class SimulatedCluster
{
    private void PlanFaults()
    {
        Plan(profile.Crashes, () => Restart(nodes[Random.Next(nodes.Count)]));
        Plan(profile.LeaderCrashes, () => nodes.Where(node => node.Core?.Role == Role.Leader).ToList().ForEach(node => Restart(node)));
        Plan(profile.Partitions, Partition);
        Plan(profile.Pauses, () => nodes[Random.Next(nodes.Count)].PausedUntil = Now + Random.NextInt64(4 * Second));
        Plan(profile.Stalls, () => nodes[Random.Next(nodes.Count)].StalledUntil = Now + Random.NextInt64(5 * Second));
        Plan(profile.StallsOfAll, StallAll);
        Plan(profile.HotBoards, () => nodes[Random.Next(nodes.Count)].BoardPenalty = Random.Next(3));
        Plan(profile.Bursts, Burst);
        Plan(profile.MemberChanges, ChangeMembers);
        Plan(profile.Transfers, Transfer);
        Plan(profile.JournalFailures, () => AnyRunning()?.Step(Input.JournalFailed(Now)));
        if (profile.Diverges)
        {
            astray = nodes[Random.Next(nodes.Count)];
            After(Random.NextInt64(FaultSeconds * Second), LoseTheWay);
        }

        if (profile.ClockFaults > 0)
        {
            nodes.ForEach(LoseClock);
            liar = clockChance.Next(3) == 0 ? nodes[clockChance.Next(nodes.Count)] : null;
            PlanClocks();
        }

        if (tablesChance is not null)
        {
            After(tablesChance.NextInt64(FaultSeconds * Second), LoseTables);
        }

        Plan(profile.Manifests, () => AnyRunning()?.Flush(Random.NextDouble()));
    }

    private void Plan(double inTenSeconds, Action fault)
    {
        if (inTenSeconds > 0)
        {
            After(Random.NextInt64((long)(20 * Second / inTenSeconds)), () =>
            {
                if (!isHealing)
                {
                    fault();
                    Plan(inTenSeconds, fault);
                }
            });
        }
    }

    /// <summary>A row of a node rots that an entry needs; of a minority at a time, or of one of two, so that another can lead and has what is needed: whose journal lost something counts too.</summary>
    private void LoseTables()
    {
        if (isHealing)
        {
            return;
        }

        After(tablesChance!.NextInt64(10 * Second), LoseTables);
        var node = nodes[tablesChance.Next(nodes.Count)];
        if (node != halted && node.Core is { Configuration.Voters.Length: > 1 and var voters } && nodes.Count(other => other != node && IsHarmed(other)) < Math.Max(1, (voters - 1) / 2))
        {
            node.IsStuck = true;
        }
    }

    private static bool IsHarmed(SimulatedNode node) => node.IsStuck || node.Store.VotedBy != default;

    private void LoseTheWay()
    {
        if (astray!.IsRunning)
        {
            astray.Diverge();
        }
        else
        {
            After(Second, LoseTheWay);
        }
    }

    private void Restart(SimulatedNode node, long within = 3 * Second)
    {
        if (!node.IsRunning)
        {
            return;
        }

        Saw("crash");
        node.Crash();
        if (profile.ClockFaults > 0)
        {
            LoseClock(node);
        }

        if (Chance(profile.Rot) && node.Store.BearsLoss && nodes.All(other => other == node || !IsHarmed(other)))
        {
            // One damaged store at a time: a minority may lose what it acknowledged, no more can be promised.
            node.Store.Rot(Random);
            Saw("rot");
        }

        After(Random.NextInt64(within), () =>
        {
            if (!node.IsRunning && node != halted)
            {
                node.Start();
            }
        });
    }

    private void Partition()
    {
        cuts.Clear();
        bool oneWay = Random.Next(3) == 0;
        var apart = nodes.Where(_ => Random.Next(2) == 0).Select(node => node.Id).ToHashSet();
        foreach (var from in nodes)
        {
            foreach (var to in nodes)
            {
                if (apart.Contains(from.Id) && !apart.Contains(to.Id))
                {
                    cuts.Add((from.Id, to.Id));
                    _ = !oneWay && cuts.Add((to.Id, from.Id));
                }
            }
        }

        foreach (var (from, to) in cuts.Where(cut => Now >= Node(cut.From).PausedUntil && Random.Next(2) == 0).ToList())
        {
            // Some hosts see at once that a connection broke.
            if (Node(from).IsRunning)
            {
                Node(from).Step(Input.PeerUnreachable(Now, to));
            }
        }

        After(Random.NextInt64(5 * Second), cuts.Clear);
    }

    /// <summary>The followers' disks hang first: a leader that is first cannot know of the others.</summary>
    private void StallAll()
    {
        foreach (var node in nodes)
        {
            if (node.Core?.Role == Role.Leader)
            {
                After(Second, () => node.StalledUntil = Now + (4 * Second));
            }
            else
            {
                node.StalledUntil = Now + (6 * Second);
            }
        }
    }

    private void Burst()
    {
        for (int count = 0; count < 200 && nodes.Find(node => node.Core?.Role == Role.Leader && Now >= node.PausedUntil) is { } leader; count++)
        {
            commands.Add(null);
            leader.Propose(commands.Count - 1);
        }
    }

    private void ChangeMembers()
    {
        var leader = nodes.Find(node => node.Core?.Role == Role.Leader && Now >= node.PausedUntil);
        if (leader is not null)
        {
            var about = nodes[Random.Next(nodes.Count)];
            var configuration = leader.Core!.Configuration;
            var change = configuration.IsLearner(about.Id) ? Random.Next(3) == 0 ? MemberChange.Removed : MemberChange.Voter
                : configuration.IsVoter(about.Id) ? Random.Next(2) == 0 ? MemberChange.Removed : MemberChange.Learner
                : MemberChange.Learner;
            if (change == MemberChange.Voter || !configuration.IsVoter(about.Id) || configuration.Voters.Length > 2)
            {
                Saw($"change {leader.Change(change, about.Id)}");
            }
        }
    }

    private void Transfer()
    {
        if (nodes.Find(node => node.Core?.Role == Role.Leader && Now >= node.PausedUntil) is { } leader)
        {
            leader.Step(Input.Transfer(Now, NodeId.None));
        }
    }
}
