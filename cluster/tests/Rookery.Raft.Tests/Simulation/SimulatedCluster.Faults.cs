namespace Rookery.Raft.Tests.Simulation;

/// <summary>The faults of a profile.</summary>
internal sealed partial class SimulatedCluster
{
    private void PlanFaults()
    {
        Plan(_profile.Crashes, () => Restart(_nodes[Random.Next(_nodes.Count)]));
        Plan(
            _profile.LeaderCrashes,
            () => _nodes.Where(node => node.Core?.Role == Role.Leader).ToList().ForEach(node => Restart(node))
        );
        Plan(_profile.Partitions, Partition);
        Plan(_profile.Pauses, () => _nodes[Random.Next(_nodes.Count)].PausedUntil = Now + Random.NextInt64(4 * Second));
        Plan(
            _profile.Stalls,
            () => _nodes[Random.Next(_nodes.Count)].StalledUntil = Now + Random.NextInt64(5 * Second)
        );
        Plan(_profile.StallsOfAll, StallAll);
        Plan(_profile.HotBoards, () => _nodes[Random.Next(_nodes.Count)].BoardPenalty = Random.Next(3));
        Plan(_profile.Bursts, Burst);
        Plan(_profile.MemberChanges, ChangeMembers);
        Plan(_profile.Transfers, Transfer);
        Plan(_profile.JournalFailures, () => ChooseRunning()?.Step(Input.JournalFailed(Now)));
        if (_profile.Diverges)
        {
            _diverging = _nodes[Random.Next(_nodes.Count)];
            After(Random.NextInt64(FaultSeconds * Second), DivergeOnce);
        }

        if (_profile.ClockFaults > 0)
        {
            _nodes.ForEach(LoseClock);
            _nodeWithWrongTime = _clockRandom.Next(3) == 0 ? _nodes[_clockRandom.Next(_nodes.Count)] : null;
            PlanClocks();
        }

        if (_tableRandom is not null)
        {
            After(_tableRandom.NextInt64(FaultSeconds * Second), LoseTables);
        }

        Plan(_profile.Manifests, () => ChooseRunning()?.Flush(Random.NextDouble()));
    }

    /// <summary>Plans a fault, and the next after it, at random intervals.</summary>
    /// <param name="inTenSeconds">The mean number of faults in ten seconds; 0 for none.</param>
    /// <param name="fault">The fault.</param>
    private void Plan(double inTenSeconds, Action fault)
    {
        if (inTenSeconds > 0)
        {
            After(
                Random.NextInt64((long)(20 * Second / inTenSeconds)),
                () =>
                {
                    if (!_isHealing)
                    {
                        fault();
                        Plan(inTenSeconds, fault);
                    }
                }
            );
        }
    }

    /// <summary>
    /// Damages a row that an entry needs: on a minority at a time, or on one of two members, and only if another voter
    /// has the row and can lead. Stores with lost journal entries also count as damaged.
    /// </summary>
    private void LoseTables()
    {
        if (_isHealing)
        {
            return;
        }

        After(_tableRandom!.NextInt64(10 * Second), LoseTables);
        var node = _nodes[_tableRandom.Next(_nodes.Count)];
        if (
            node != _halted
            && node.Core is { Configuration.Voters.Length: > 1 and var voters }
            && _nodes.Count(other => other != node && IsHarmed(other)) < Math.Max(1, (voters - 1) / 2)
            && _nodes.Exists(other => other != node && CanReplace(other, node.Core))
        )
        {
            node.IsStuck = true;
        }
    }

    private static bool CanReplace(SimulatedNode other, RaftCore core) =>
        core.Configuration.IsVoter(other.Id) && !IsHarmed(other) && other.Core?.Last.Index >= core.CommitIndex;

    private static bool IsHarmed(SimulatedNode node) => node.IsStuck || node.Store.MayHaveAcknowledged != default;

    private void DivergeOnce()
    {
        if (_diverging!.IsRunning)
        {
            _diverging.Diverge();
        }
        else
        {
            After(Second, DivergeOnce);
        }
    }

    private void Restart(SimulatedNode node, long within = 3 * Second)
    {
        if (!node.IsRunning)
        {
            return;
        }

        Mark("crash");
        node.Crash();
        if (_profile.ClockFaults > 0)
        {
            LoseClock(node);
        }

        // One damaged store at a time: only a minority may lose acknowledged entries. While some log has an uncommitted
        // change to two voters, neither of the two may be damaged, even if it never received that change.
        if (
            DrawFault(_profile.Rot)
            && _nodes.All(other => other.Store.ToleratesLoss && (other == node || !IsHarmed(other)))
        )
        {
            node.Store.Rot(Random);
            Mark("rot");
        }

        After(
            Random.NextInt64(within),
            () =>
            {
                if (!node.IsRunning && node != _halted)
                {
                    node.Start();
                }
            }
        );
    }

    private void Partition()
    {
        _cuts.Clear();
        bool isOneWay = Random.Next(3) == 0;
        var firstGroup = _nodes.Where(_ => Random.Next(2) == 0).Select(node => node.Id).ToHashSet();
        foreach (var from in _nodes)
        {
            foreach (var to in _nodes)
            {
                if (firstGroup.Contains(from.Id) && !firstGroup.Contains(to.Id))
                {
                    _cuts.Add((from.Id, to.Id));
                    _ = !isOneWay && _cuts.Add((to.Id, from.Id));
                }
            }
        }

        foreach (
            var (from, to) in _cuts.Where(cut => Now >= Node(cut.From).PausedUntil && Random.Next(2) == 0).ToList()
        )
        {
            // Some hosts notice the broken connection immediately.
            if (Node(from).IsRunning)
            {
                Node(from).Step(Input.PeerUnreachable(Now, to));
            }
        }

        After(Random.NextInt64(5 * Second), _cuts.Clear);
    }

    /// <summary>
    /// Stalls all disks, the followers' first, because a leader that stalls first does not know that the others stall.
    /// </summary>
    private void StallAll()
    {
        foreach (var node in _nodes)
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
        for (
            int count = 0;
            count < 200 && _nodes.Find(node => node.Core?.Role == Role.Leader && Now >= node.PausedUntil) is { } leader;
            count++
        )
        {
            _commands.Add(null);
            leader.Propose(_commands.Count - 1);
        }
    }

    private void ChangeMembers()
    {
        var leader = _nodes.Find(node => node.Core?.Role == Role.Leader && Now >= node.PausedUntil);
        if (leader is not null)
        {
            var member = _nodes[Random.Next(_nodes.Count)];
            var configuration = leader.Core!.Configuration;
            var change = configuration.IsLearner(member.Id)
                ? Random.Next(3) == 0
                    ? MemberChange.Removed
                    : MemberChange.Voter
                : configuration.IsVoter(member.Id)
                    ? Random.Next(2) == 0
                        ? MemberChange.Removed
                        : MemberChange.Learner
                    : MemberChange.Learner;
            if (change == MemberChange.Voter || !configuration.IsVoter(member.Id) || configuration.Voters.Length > 2)
            {
                Mark($"change {leader.Change(change, member.Id)}");
            }
        }
    }

    private void Transfer()
    {
        if (_nodes.Find(node => node.Core?.Role == Role.Leader && Now >= node.PausedUntil) is { } leader)
        {
            leader.Step(Input.Transfer(Now, NodeId.None));
        }
    }
}
