namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A whole cluster in one thread, driven by a seed: real cores, simulated disks, network and time. After a time of faults everything heals, and then a leader
/// must be found, everything acknowledged be everywhere, and a new write be committed.
/// </summary>
internal sealed class SimulatedCluster : INodeWorld
{
    private const long Second = 1_000_000;
    private const long FaultSeconds = 30;
    private const long HealSeconds = 60;

    private readonly PriorityQueue<Action, (long At, long Order)> events = new();
    private readonly HashSet<(NodeId From, NodeId To)> cuts = [];
    private readonly Dictionary<(NodeId From, NodeId To, bool HasEntries), long> arrivals = [];
    private readonly List<SimulatedNode> nodes = [];
    private readonly FaultProfile profile;
    private readonly Dictionary<string, int> marks;
    private long order;
    private long nextPayload = 1;
    private bool isHealing;

    public SimulatedCluster(int seed, FaultProfile profile, SafetyRules rules, Dictionary<string, int> marks)
    {
        (this.profile, Rules, this.marks) = (profile, rules, marks);
        Options = new CoreOptions { ShortestElectionTimeoutMicroseconds = Second / 2, FirstElectionTimeoutMicroseconds = 3 * Second / 2, MostMessageBytes = 4_000, CautionMicroseconds = profile.Caution, LongestElectionTimeoutMicroseconds = profile.LongestElectionTimeout };
        Random = new Random(seed);
        int voters = Random.Next(4) == 0 ? 5 : 3;
        int spares = profile.MemberChanges > 0 ? 2 : 0;
        var configuration = Configuration.Of(Enumerable.Range(1, voters).Select(id => new NodeId(id)), []);
        for (int id = 1; id <= voters + spares; id++)
        {
            nodes.Add(new SimulatedNode(new NodeId(id), new SimulatedStore(id <= voters ? configuration : Configuration.Empty), this));
        }
    }

    public CoreOptions Options { get; }

    public Random Random { get; }

    public SafetyRules Rules { get; }

    public ClusterOracle Oracle { get; } = new();

    public long Now { get; private set; }

    public long Events { get; private set; }

    public SimulatedStore StoreOf(NodeId id) => Node(id).Store;

    public void Saw(string mark) => marks[mark] = marks.GetValueOrDefault(mark) + 1;

    public void Run()
    {
        foreach (var node in nodes)
        {
            node.Start();
            Every(node, 40_000);
        }

        Repeat(20_000, Write);
        Repeat(50_000, Read);
        PlanFaults();
        RunUntil(FaultSeconds * Second);
        Heal();
        RunUntil((FaultSeconds + HealSeconds) * Second);
        CheckHealed();
    }

    public void CompleteLater(SimulatedNode node, long write)
    {
        int process = node.Process;
        After(Skewed(profile.LongestSync), () => Complete(node, process));
    }

    public void Send(Message message, StoredEntry[] entries)
    {
        Saw($"{message.Kind}{(message.Refused ? " refused" : "")}");
        if (cuts.Contains((message.From, message.To)) || Chance(profile.Loss))
        {
            return;
        }

        // A connection keeps the order, but for what was sent before it broke and was made anew.
        var connection = (message.From, message.To, message.Kind is MessageKind.Append or MessageKind.AppendReply);
        long arrival = Now + Skewed(profile.LongestDelay);
        if (!Chance(profile.Overtaking))
        {
            arrival = Math.Max(arrival, arrivals.GetValueOrDefault(connection));
            arrivals[connection] = arrival;
        }

        After(arrival - Now, () => Deliver(message, entries));
        if (Chance(profile.Duplication))
        {
            After(Skewed(profile.LongestDelay * 4), () => Deliver(message, entries));
        }
    }

    public void FetchLater(SimulatedNode node, NodeId from)
    {
        int process = node.Process;
        After(Skewed(500_000), () => FinishFetch(node, process, from));
    }

    public void PerhapsCrash(SimulatedNode node, bool hasVoted)
    {
        if (hasVoted && Chance(profile.CrashAtVote))
        {
            Restart(node, within: Second / 10);
        }
        else if (Chance(profile.AimedCrash))
        {
            Restart(node);
        }
    }

    private SimulatedNode Node(NodeId id) => nodes[(int)id.Value - 1];

    private bool Chance(double share) => !isHealing && share > 0 && Random.NextDouble() < share;

    /// <summary>Most take a tenth of the longest, few take long.</summary>
    private long Skewed(long longest) => 1 + (isHealing ? Random.NextInt64(5_000) : Random.NextInt64(Random.Next(5) == 0 ? longest : (longest / 10) + 1));

    private void After(long delay, Action action) => events.Enqueue(action, (Now + delay, order++));

    private void RunUntil(long end)
    {
        while (events.TryPeek(out _, out var when) && when.At <= end)
        {
            var action = events.Dequeue();
            Now = when.At;
            Events++;
            action();
        }

        Now = end;
    }

    private void Every(SimulatedNode node, long period) => After(period, () =>
    {
        Every(node, period);
        if (node.IsRunning && Now >= node.PausedUntil)
        {
            node.Step(Input.Measured(Now, new StoreHealth(profile.LongestSync / 10, Math.Max(0, node.StalledUntil - Now), 0)));
        }

        if (node.IsRunning && Now >= node.PausedUntil)
        {
            node.Step(Input.Tick(Now));
        }
    });

    private void Repeat(long period, Action action) => After(1 + Random.NextInt64(2 * period), () =>
    {
        Repeat(period, action);
        action();
    });

    private SimulatedNode? AnyRunning()
    {
        var node = nodes[Random.Next(nodes.Count)];
        return node.IsRunning && Now >= node.PausedUntil ? node : null;
    }

    /// <summary>Clients mostly know who leads, and sometimes ask one that only believes to.</summary>
    private void Write()
    {
        foreach (var node in nodes)
        {
            if (node.Core?.Role == Role.Leader && Now >= node.PausedUntil)
            {
                node.Propose(nextPayload++);
            }
        }
    }

    private void Read()
    {
        if (AnyRunning() is { } node)
        {
            node.Read(nextPayload++);
        }
    }

    private void Complete(SimulatedNode node, int process)
    {
        if (node.Process != process || !node.IsRunning)
        {
            return;
        }

        long wait = Math.Max(node.StalledUntil, node.PausedUntil) - Now;
        if (wait > 0)
        {
            After(wait, () => Complete(node, process));
            return;
        }

        node.Step(Input.JournalDurable(Now, node.Store.Complete()));
    }

    private void Deliver(Message message, StoredEntry[] entries)
    {
        var node = Node(message.To);
        if (node.PausedUntil > Now)
        {
            After(node.PausedUntil - Now, () => Deliver(message, entries));
        }
        else if (node.IsRunning)
        {
            node.Step(Input.Received(Now, message, entries.Select(entry => entry.Entry).ToArray()), entries);
        }
    }

    private void FinishFetch(SimulatedNode node, int process, NodeId from)
    {
        if (node.Process != process || !node.IsRunning)
        {
            return;
        }

        if (node.Store.IsWriting || node.PausedUntil > Now)
        {
            After(10_000, () => FinishFetch(node, process, from));
            return;
        }

        node.Install(Node(from).IsRunning && !cuts.Contains((from, node.Id)) ? Node(from).Store.Manifest : null);
    }

    private void PlanFaults()
    {
        Plan(profile.Crashes, () => Restart(nodes[Random.Next(nodes.Count)]));
        Plan(profile.LeaderCrashes, () => nodes.Where(node => node.Core?.Role == Role.Leader).ToList().ForEach(node => Restart(node)));
        Plan(profile.Partitions, Partition);
        Plan(profile.Pauses, () => nodes[Random.Next(nodes.Count)].PausedUntil = Now + Random.NextInt64(4 * Second));
        Plan(profile.Stalls, () => nodes[Random.Next(nodes.Count)].StalledUntil = Now + Random.NextInt64(5 * Second));
        Plan(profile.MemberChanges, ChangeMembers);
        Plan(profile.Transfers, Transfer);
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

    private void Restart(SimulatedNode node, long within = 3 * Second)
    {
        if (!node.IsRunning)
        {
            return;
        }

        Saw("crash");
        node.Crash();
        if (Chance(profile.Rot) && node.Store.BearsLoss && nodes.All(other => other == node || other.Store.VotedBy == default))
        {
            // One damaged store at a time: a minority may lose what it acknowledged, no more can be promised.
            node.Store.Rot(Random);
            Saw("rot");
        }

        After(Random.NextInt64(within), () =>
        {
            if (!node.IsRunning)
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

        After(Random.NextInt64(5 * Second), cuts.Clear);
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

    private void Heal()
    {
        isHealing = true;
        cuts.Clear();
        foreach (var node in nodes)
        {
            (node.PausedUntil, node.StalledUntil) = (Math.Min(node.PausedUntil, Now), Math.Min(node.StalledUntil, Now));
            if (!node.IsRunning)
            {
                node.Start();
            }
        }
    }

    private void CheckHealed()
    {
        var leader = Assert.Single(nodes, node => node.Core?.Role == Role.Leader);
        var core = leader.Core!;
        Assert.True(Oracle.Acknowledged > 0, "writes were acknowledged");
        Assert.True(core.CommitIndex >= Oracle.Acknowledged, "the leader has what was acknowledged");
        Assert.True(core.Last.Index - core.CommitIndex < 100, "the leader commits");
        foreach (var node in nodes)
        {
            if (core.Configuration.IsMember(node.Id))
            {
                Assert.True(core.CommitIndex - node.Applied < 200, $"{node.Id} keeps up: applied {node.Applied} of {core.CommitIndex}");
                Assert.False(node.Core!.IsDamaged, $"{node.Id} is healed");
            }
        }
    }
}
