namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A whole cluster on one thread, driven by a seed: real cores, simulated disks, network and time. After the faults
/// end, there must be a leader, every acknowledged write must be on all nodes, and a new write must be committed.
/// </summary>
internal sealed partial class SimulatedCluster : INodeWorld
{
    private const long Second = 1_000_000;
    private const long FaultSeconds = 30;
    private const long HealSeconds = 60;
    private const int Clients = 8;
    private const long ClientPauseMicroseconds = 30_000;
    private const long LongestClientDelay = 20_000;

    private readonly PriorityQueue<Action, (long At, long Order)> _events = new();
    private readonly HashSet<(NodeId From, NodeId To)> _cuts = [];

    // When the newest message of each connection arrives.
    private readonly Dictionary<(NodeId From, NodeId To, bool HasEntries), long> _arrivals = [];
    private readonly List<SimulatedNode> _nodes = [];
    private readonly List<SimulatedClient> _clients = [];

    // The commands, by the payloads of their entries; null for an entry without a client.
    private readonly List<ClientCommand?> _commands = [null];
    private readonly FaultProfile _profile;
    private readonly bool _searchesHistory;

    // A separate random generator, so that a profile with wrong clocks has the same other faults as without.
    private readonly Random _clockRandom;
    private readonly Dictionary<string, int> _marks;

    // A separate generator for damage of tables, used only in every fourth seed, so that the other seeds keep their
    // faults. Null if a state diverges, because a snapshot of another member would repair that state.
    private readonly Random? _tableRandom;
    private long _order;
    private long _reads;
    private bool _isHealing;

    // The node whose state becomes wrong, the node that stopped because of it, and the node with a wrong time source;
    // null as long as there is none.
    private SimulatedNode? _diverging;
    private SimulatedNode? _halted;
    private SimulatedNode? _nodeWithWrongTime;

    public SimulatedCluster(int seed, FaultProfile profile, PlantedBug bug, Dictionary<string, int> marks)
    {
        (_profile, Rules, Mistake, _marks) = (profile, bug.Rules, bug.Mistake, marks);
        Options = new CoreOptions
        {
            ShortestElectionTimeoutMicroseconds = Second / 2,
            FirstElectionTimeoutMicroseconds = 3 * Second / 2,
            MaxMessageBytes = 4_000,
            CautionMicroseconds = profile.Caution,
            LongestElectionTimeoutMicroseconds = profile.LongestElectionTimeout,
            PreferenceMicroseconds = 4 * Second,
        };
        Random = new Random(seed);
        _clockRandom = new Random(~seed);
        _searchesHistory = seed % 10 == 0;
        _tableRandom = seed % 4 == 2 && !profile.Diverges ? new Random(seed ^ 0x5EED) : null;
        int voters = Random.Next(4) == 0 ? 5 : 3;
        int spares = profile.MemberChanges > 0 ? 2 : 0;
        var configuration = Configuration.Of(Enumerable.Range(1, voters).Select(id => new NodeId(id)), learners: []);
        for (int id = 1; id <= voters + spares; id++)
        {
            _nodes.Add(
                new SimulatedNode(
                    new NodeId(id),
                    new SimulatedStore(id <= voters ? configuration : Configuration.Empty),
                    this
                )
            );
        }
    }

    public CoreOptions Options { get; }

    public Random Random { get; }

    public SafetyRules Rules { get; }

    public ClusterOracle Oracle { get; } = new();

    public long Now { get; private set; }

    public long Events { get; private set; }

    /// <summary>The number of checked client operations.</summary>
    public int Operations { get; private set; }

    public HostMistake Mistake { get; }

    /// <summary>The number of the next command.</summary>
    public long NextPayload => _commands.Count;

    public SimulatedStore StoreOf(NodeId id) => Node(id).Store;

    public ClientCommand? CommandOf(long payload) => payload > 0 ? _commands[(int)payload] : null;

    public long NextNumber() => ++_reads;

    /// <summary>Stores a command; returns its number.</summary>
    public long Keep(ClientCommand command)
    {
        _commands.Add(command);
        return _commands.Count - 1;
    }

    /// <summary>
    /// Sends a command to a node: mostly to the leader, sometimes to a node that wrongly believes that it is leader, or
    /// to any node.
    /// </summary>
    public void Ask(ClientCommand command, long payload, Action<CommandResult> onAnswer)
    {
        var leaders = _nodes.FindAll(node => node.Core?.Role == Role.Leader);
        var node =
            leaders.Count > 0 && Random.Next(3) > 0
                ? leaders[Random.Next(leaders.Count)]
                : _nodes[Random.Next(_nodes.Count)];
        After(
            DrawDuration(LongestClientDelay),
            () =>
                Serve(
                    node,
                    command,
                    payload,
                    result => After(DrawDuration(LongestClientDelay), () => onAnswer(result)),
                    isForwarded: false
                )
        );
    }

    public void Forward(
        SimulatedNode from,
        NodeId to,
        ClientCommand command,
        long payload,
        Action<CommandResult> answer
    )
    {
        if (!IsCut(from.Id, to))
        {
            After(
                DrawDuration(_profile.LongestDelay),
                () =>
                    Serve(
                        Node(to),
                        command,
                        payload,
                        result => AnswerForwarded(from, to, result, answer),
                        isForwarded: true
                    )
            );
        }
    }

    public void Mark(string mark) => _marks[mark] = _marks.GetValueOrDefault(mark) + 1;

    public void Run()
    {
        foreach (var node in _nodes)
        {
            node.Start();
            ScheduleTick(node, period: 40_000);
        }

        for (int number = 0; number < Clients; number++)
        {
            var client = new SimulatedClient(number, this);
            _clients.Add(client);
            ScheduleClient(client);
        }

        PlanFaults();
        RunUntil(FaultSeconds * Second);
        Heal();
        RunUntil((FaultSeconds + HealSeconds) * Second);
        CheckHealed();
        CheckHistory();
    }

    public void CompleteLater(SimulatedNode node, long write)
    {
        int process = node.Process;
        After(DrawDuration(_profile.LongestSync), () => Complete(node, process));
    }

    public void Send(Message message, StoredEntry[] entries)
    {
        Mark($"{message.Kind}{(message.Refused ? " refused" : "")}");
        if (IsCut(message.From, message.To))
        {
            return;
        }

        // A connection keeps the order, except for messages that were sent before a reconnection.
        var connection = (message.From, message.To, message.Kind is MessageKind.Append or MessageKind.AppendReply);
        long arrival = Now + DrawDuration(_profile.LongestDelay);
        if (!DrawFault(_profile.Overtaking))
        {
            arrival = Math.Max(arrival, _arrivals.GetValueOrDefault(connection));
            _arrivals[connection] = arrival;
        }

        After(arrival - Now, () => Deliver(message, entries));
        if (DrawFault(_profile.Duplication))
        {
            After(DrawDuration(_profile.LongestDelay * 4), () => Deliver(message, entries));
        }
    }

    public void FetchLater(SimulatedNode node, NodeId from)
    {
        int process = node.Process;
        After(DrawDuration(2 * Second), () => FinishFetch(node, process, from));
    }

    /// <summary>
    /// Restarts a node after a failed write. A diverged one stays down, because it needs another member's data.
    /// </summary>
    public void HandleFailure(SimulatedNode node)
    {
        if (node.HasDiverged)
        {
            Mark("halted");
            _halted = node;
            node.Crash();
        }
        else
        {
            Restart(node);
        }
    }

    public bool DiesInInstall(SimulatedNode node)
    {
        bool dies = DrawFault(_profile.CrashInInstall);
        if (dies)
        {
            Mark("crash in install");
            Restart(node);
        }

        return dies;
    }

    public void PerhapsCrash(SimulatedNode node, bool hasVoted)
    {
        if (hasVoted && DrawFault(_profile.CrashAtVote))
        {
            Restart(node, within: Second / 10);
        }
        else if (DrawFault(_profile.AimedCrash))
        {
            Restart(node);
        }
    }

    private void Serve(
        SimulatedNode node,
        ClientCommand command,
        long payload,
        Action<CommandResult> answer,
        bool isForwarded
    )
    {
        if (node.PausedUntil > Now)
        {
            After(node.PausedUntil - Now, () => Serve(node, command, payload, answer, isForwarded));
        }
        else if (node.IsRunning)
        {
            node.Serve(command, payload, answer, isForwarded);
        }
    }

    private void AnswerForwarded(
        SimulatedNode through,
        NodeId leader,
        CommandResult result,
        Action<CommandResult> answer
    )
    {
        if (!IsCut(leader, through.Id))
        {
            After(DrawDuration(_profile.LongestDelay), () => answer(result));
        }
    }

    private bool IsCut(NodeId from, NodeId to) => _cuts.Contains((from, to)) || DrawFault(_profile.Loss);

    private SimulatedNode Node(NodeId id) => _nodes[(int)id.Value - 1];

    /// <summary>Whether a fault with this probability occurs now; never after the faults ended.</summary>
    private bool DrawFault(double share) => !_isHealing && share > 0 && Random.NextDouble() < share;

    /// <summary>Returns a random duration: mostly about a tenth of the longest.</summary>
    private long DrawDuration(long longest) =>
        1
        + (_isHealing ? Random.NextInt64(5_000) : Random.NextInt64(Random.Next(5) == 0 ? longest : (longest / 10) + 1));

    private void After(long delay, Action action) => _events.Enqueue(action, (Now + delay, _order++));

    private void RunUntil(long end)
    {
        while (_events.TryPeek(out _, out var at) && at.At <= end)
        {
            var action = _events.Dequeue();
            Now = at.At;
            Events++;
            action();
        }

        Now = end;
    }

    private void ScheduleTick(SimulatedNode node, long period) =>
        After(
            period,
            () =>
            {
                ScheduleTick(node, period);
                if (node.IsRunning && Now >= node.PausedUntil)
                {
                    node.Step(
                        Input.Measured(
                            Now,
                            new StoreHealth(
                                _profile.LongestSync / 10,
                                Math.Max(0, node.StalledUntil - Now),
                                node.IsStuck ? StoreHealth.CannotApply : node.BoardPenalty
                            )
                        )
                    );
                }

                if (node.IsRunning && Now >= node.PausedUntil)
                {
                    node.Step(Input.Tick(Now));
                }

                if (node.IsRunning && Now >= node.PausedUntil && Now >= node.ClockReadAt + Second)
                {
                    node.ClockReadAt = Now;
                    node.Step(Input.ReadClock(Now, ClockOf(node)));
                    if (node.IsRunning)
                    {
                        node.SeekState();
                    }
                }
            }
        );

    /// <summary>Schedules a client's next operation: soon during the faults, later after them.</summary>
    private void ScheduleClient(SimulatedClient client) =>
        After(
            1 + Random.NextInt64(2 * ClientPauseMicroseconds * (_isHealing ? 10 : 1)),
            () =>
            {
                ScheduleClient(client);
                client.Continue();
            }
        );

    private SimulatedNode? ChooseRunning()
    {
        var node = _nodes[Random.Next(_nodes.Count)];
        return node.IsRunning && Now >= node.PausedUntil ? node : null;
    }

    // Completes a journal write of a process once its disk no longer stalls and the process is no longer paused.
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

    // Installs the snapshot that a process has fetched, unless its sender is gone. A write in flight ends first.
    private void FinishFetch(SimulatedNode node, int process, NodeId from)
    {
        if (node.Process != process || !node.IsRunning)
        {
            return;
        }

        if ((node.Store.IsWriting && !node.IsStuck) || node.PausedUntil > Now)
        {
            After(delay: 10_000, () => FinishFetch(node, process, from));
            return;
        }

        var senderCore = _cuts.Contains((from, node.Id)) ? null : Node(from).Core;
        bool canSend = senderCore is not null && !Node(from).IsStuck;
        if (canSend && node.IsStuck)
        {
            Node(from).Flush(share: 0);
        }

        node.Install(canSend ? Node(from).Store.Manifest : null, senderCore?.Term ?? 0);
    }

    private void Heal()
    {
        _isHealing = true;
        _cuts.Clear();
        foreach (var node in _nodes)
        {
            node.Clock = (0, true);
            (node.PausedUntil, node.StalledUntil) = (Math.Min(node.PausedUntil, Now), Math.Min(node.StalledUntil, Now));
            if (node.IsRunning)
            {
                node.ReportManifest();
            }
            else if (node != _halted)
            {
                node.Start();
            }
        }
    }

    private void CheckHealed()
    {
        var leaders = _nodes.FindAll(node => node.Core?.Role == Role.Leader);
        Assert.True(leaders.Count == 1, $"{leaders.Count} lead in the end instead of one");
        var leader = leaders[0];
        var core = leader.Core!;
        var clock = core.ReadClock(Now);
        Assert.True(
            clock.IsSure && Math.Abs(clock.UtcTicks - TrueTicks) < TimeSpan.TicksPerMinute,
            $"the leader knows the time: {clock}"
        );
        Assert.True(Oracle.Acknowledged > 0, "writes were acknowledged");
        Assert.True(core.CommitIndex >= Oracle.Acknowledged, "the leader has all acknowledged writes");
        Assert.True(core.Last.Index - core.CommitIndex < 100, "the leader commits");
        Assert.False(_nodes.Exists(node => node.HasDiverged && node.IsRunning), "no diverged node keeps running");
        foreach (var node in _nodes)
        {
            if (core.Configuration.IsMember(node.Id) && node != _halted)
            {
                Assert.True(
                    core.CommitIndex - node.Applied < 200,
                    $"{node.Id} keeps up: applied {node.Applied} of {core.CommitIndex}"
                );
                Assert.False(node.Core!.IsDamaged, $"{node.Id} is healed");
            }
        }
    }
}
