namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A simulated cluster controlled by a script, for bugs so rare that random runs do not find them. Time passes only for
/// named nodes. Messages between connected nodes arrive unless <see cref="IsDelivered"/> rejects them. Disks sync
/// immediately unless held. Each method returns when nothing is in flight any more, except what the script delays. A
/// node that becomes leader appends an empty entry, so a script's first proposal has index 2.
/// </summary>
internal sealed class ScriptedWorld : INodeWorld
{
    private readonly List<SimulatedNode> _nodes = [];
    private readonly Queue<(Message Message, StoredEntry[] Entries)> _messages = new();
    private readonly List<(Message Message, StoredEntry[] Entries)> _delayed = [];
    private readonly Queue<(SimulatedNode Node, int Process)> _syncs = new();
    private readonly Queue<(SimulatedNode Node, NodeId From)> _fetches = new();
    private readonly HashSet<int> _reachable = [];

    // Maps the id of each node whose syncs wait to the time since when, in simulated microseconds.
    private readonly Dictionary<int, long> _heldDisks = [];
    private readonly Dictionary<int, (long AheadTicks, bool IsSure)> _clocks = [];
    private readonly PlantedBug _bug;
    private long _reads;

    public ScriptedWorld(PlantedBug bug, int voters, int learners = 0, int unknownPeers = 0)
    {
        _bug = bug;
        var configuration = Configuration.Of(
            Enumerable.Range(1, voters).Select(id => new NodeId(id)),
            Enumerable.Range(voters + 1, learners).Select(id => new NodeId(id))
        );
        for (int id = 1; id <= voters + learners + unknownPeers; id++)
        {
            _nodes.Add(
                new SimulatedNode(
                    new NodeId(id),
                    new SimulatedStore(id <= voters + learners ? configuration : Configuration.Empty),
                    this
                )
            );
            _reachable.Add(id);
        }

        _nodes.ForEach(node => node.Start());
    }

    public Random Random { get; } = new(1);

    /// <summary>One entry per message, so that a script can deliver single entries.</summary>
    public CoreOptions Options { get; } = new() { MaxMessageBytes = 1, CautionMicroseconds = 0 };

    public SafetyRules Rules => _bug.Rules;

    public HostMistake Mistake => _bug.Mistake;

    public ClusterOracle Oracle { get; } = new();

    public long Now { get; private set; }

    public long TrueTicks =>
        ClusterClock.EarliestTicks + (300 * TimeSpan.TicksPerDay) + (Now * TimeSpan.TicksPerMicrosecond);

    /// <summary>Selects the messages that are delivered only by <see cref="DeliverDelayed"/>.</summary>
    public Predicate<Message> IsDelayed { get; set; } = _ => false;

    /// <summary>
    /// Selects the messages that are delivered twice: now, and again by <see cref="DeliverDelayed"/>.
    /// </summary>
    public Predicate<Message> IsDuplicated { get; set; } = _ => false;

    /// <summary>Selects the messages between connected nodes that are delivered; others are lost.</summary>
    public Predicate<Message> IsDelivered { get; set; } = _ => true;

    /// <summary>The id of the node that loses power just after it installs a fetched snapshot; 0 for none.</summary>
    public int DyingInInstall { get; set; }

    /// <summary>Whether fetched snapshots are delayed.</summary>
    public bool FetchesWait { get; set; }

    /// <summary>The id of the only leader among the connected nodes; 0 for none or several.</summary>
    public int Leader =>
        _nodes.Where(node => node.Core?.Role == Role.Leader && _reachable.Contains((int)node.Id.Value)).ToList()
            is [var only]
            ? (int)only.Id.Value
            : 0;

    public SimulatedNode this[int id] => _nodes[id - 1];

    public ClientCommand? CommandOf(long payload) => null;

    public ClockReading ClockOf(SimulatedNode node) =>
        _clocks.TryGetValue((int)node.Id.Value, out var clock)
            ? new ClockReading(TrueTicks + clock.AheadTicks, clock.IsSure)
            : new ClockReading(TrueTicks, IsSure: true);

    /// <summary>Sets clocks to the beginning of a year. Their hosts read them as time passes.</summary>
    public void SetClock(int year, bool isSure, params int[] ids) =>
        ids.ToList().ForEach(id => _clocks[id] = (new DateTime(year, 1, 1).Ticks - TrueTicks, isSure));

    /// <summary>Sets clocks to the true time.</summary>
    public void SetClockToTrueTime(bool isSure, params int[] ids) =>
        ids.ToList().ForEach(id => _clocks[id] = (0, isSure));

    /// <summary>Returns the error of the leader's cluster time.</summary>
    public TimeSpan ErrorOf(int leader) =>
        TimeSpan.FromTicks(this[leader].Core!.ReadClock(Now).UtcTicks - TrueTicks).Duration();

    public long NextNumber() => ++_reads;

    public void Forward(
        SimulatedNode from,
        NodeId to,
        ClientCommand command,
        long payload,
        Action<CommandResult> answer
    ) => throw new NotSupportedException("scripts ask the leader");

    public SimulatedStore StoreOf(NodeId id) => this[(int)id.Value].Store;

    public void Mark(string mark) { }

    public void Send(Message message, StoredEntry[] entries) => _messages.Enqueue((message, entries));

    public void CompleteLater(SimulatedNode node, long write) => _syncs.Enqueue((node, node.Process));

    public void FetchLater(SimulatedNode node, NodeId from) => _fetches.Enqueue((node, from));

    public void HandleFailure(SimulatedNode node) => node.Crash();

    public void PerhapsCrash(SimulatedNode node, bool hasVoted) { }

    public bool DiesInInstall(SimulatedNode node)
    {
        bool dies = node.Id.Value == DyingInInstall;
        if (dies)
        {
            DyingInInstall = 0;
            node.LosePower();
        }

        return dies;
    }

    /// <summary>Connects only these nodes from now on. Messages in flight are lost.</summary>
    public void Connect(params int[] ids)
    {
        _messages.Clear();
        _reachable.Clear();
        _reachable.UnionWith(ids);
        IsDelivered = _ => true;
    }

    /// <summary>
    /// Delivers the delayed messages and the messages that follow from them, if <paramref name="isDelivered"/> selects
    /// them; all by default.
    /// </summary>
    public void DeliverDelayed(Predicate<Message>? isDelivered = null)
    {
        (IsDelayed, IsDuplicated, IsDelivered) = (_ => false, _ => false, isDelivered ?? (_ => true));
        _delayed.ForEach(_messages.Enqueue);
        _delayed.Clear();
        Settle();
    }

    /// <summary>Delivers a message that was sent long ago.</summary>
    public void Receive(Message message)
    {
        _messages.Enqueue((message, []));
        Settle();
    }

    /// <summary>Makes the leader ask a voter to campaign at once.</summary>
    public void TimeOutNow(int leader, int voter) =>
        Receive(
            new Message
            {
                Kind = MessageKind.TimeoutNow,
                From = new NodeId(leader),
                To = new NodeId(voter),
                Term = this[leader].Core!.Term,
                StartNumber = 1,
            }
        );

    /// <summary>Makes the syncs of nodes wait until <see cref="ReleaseDisk"/>.</summary>
    public void HoldDisk(params int[] ids) => ids.ToList().ForEach(id => _heldDisks.TryAdd(id, Now));

    public void ReleaseDisk(params int[] ids)
    {
        ids.ToList().ForEach(id => _heldDisks.Remove(id));
        Settle();
    }

    public void Restart(int id)
    {
        this[id].Crash();
        this[id].Start();
    }

    /// <summary>Cuts and restores power: unsynced data is lost.</summary>
    public void CutPower(params int[] ids)
    {
        _messages.Clear();
        ids.ToList().ForEach(id => this[id].LosePower());
        ids.ToList().ForEach(id => _heldDisks.Remove(id));
        ids.ToList().ForEach(id => this[id].Start());
    }

    /// <summary>Restarts a node after a power cut that damaged its journal after an index.</summary>
    public void Rot(int id, long lastReadable)
    {
        this[id].LosePower();
        this[id].Store.Rot(lastReadable);
        this[id].Start();
    }

    /// <summary>Replaces a broken disk by an empty one. The real host refuses to start it under the old id.</summary>
    public void ReplaceCard(int id)
    {
        this[id].LosePower();
        _nodes[id - 1] = new SimulatedNode(new NodeId(id), new SimulatedStore(this[id].Store.Base.Configuration), this);
        if (Mistake == HostMistake.ReusesIds)
        {
            this[id].Start();
        }
    }

    /// <summary>Lets time pass for one node until it leads; the others learn that only from its messages.</summary>
    public void Elect(int id)
    {
        for (int tick = 0; tick < 200 && this[id].Core!.Role != Role.Leader; tick++)
        {
            AdvanceTime(id, microseconds: 50_000);
        }

        Assert.True(this[id].Core!.Role == Role.Leader, $"{id} leads");
    }

    /// <summary>
    /// Lets time pass for one node, in one tick. A leader sends its next heartbeats after 300,000 µs at the latest.
    /// </summary>
    public void AdvanceTime(int id, long microseconds)
    {
        Now += microseconds;
        this[id].Step(Input.Tick(Now));
        Settle();
    }

    /// <summary>
    /// Lets time pass for all running nodes, in ticks of 100 ms, and reports the health of their disks.
    /// </summary>
    public void AdvanceTimeOfAll(double seconds)
    {
        for (long end = Now + (long)(seconds * 1_000_000); Now < end; )
        {
            Now += 100_000;
            foreach (var node in _nodes.Where(node => node.IsRunning))
            {
                bool isHeld =
                    _heldDisks.TryGetValue((int)node.Id.Value, out long since) && Mistake != HostMistake.HidesStalls;
                node.Step(Input.Measured(Now, new StoreHealth(0, isHeld ? Now - since : 0, 0)));
                node.Step(Input.ReadClock(Now, ClockOf(node)));
                node.Step(Input.Tick(Now));
            }

            Settle();
        }
    }

    public void Propose(int id, long payload)
    {
        this[id].Propose(payload);
        Settle();
    }

    public void Read(int id)
    {
        this[id].Read(NextNumber());
        Settle();
    }

    public void Transfer(int from, int to)
    {
        this[from].Step(Input.Transfer(Now, new NodeId(to)));
        Settle();
    }

    /// <summary>Makes a leader's journal unreadable from an index on, for entries to a peer.</summary>
    public void CannotRead(int leader, int peer, long index)
    {
        if (Mistake != HostMistake.HidesUnreadable)
        {
            this[leader].Step(Input.Unreadable(Now, new NodeId(peer), index));
        }

        Settle();
    }

    /// <summary>Flushes a node's state, and releases its whole journal.</summary>
    public void Flush(int id)
    {
        this[id].Flush(1);
        Settle();
    }

    public ChangeAnswer Change(int id, MemberChange change, int member)
    {
        var answer = this[id].Change(change, new NodeId(member));
        Settle();
        return answer;
    }

    /// <summary>
    /// Delivers messages, completes syncs and installs snapshots until nothing is in flight. No time passes.
    /// </summary>
    public void Settle()
    {
        while (DeliverOne() || SyncOne() || InstallOne()) { }
    }

    private bool DeliverOne()
    {
        if (!_messages.TryDequeue(out var next))
        {
            return false;
        }

        var (sent, entries) = next;
        if (IsDelayed(sent) || IsDuplicated(sent))
        {
            _delayed.Add(next);
        }

        bool arrives =
            !IsDelayed(sent)
            && _reachable.Contains((int)sent.From.Value)
            && _reachable.Contains((int)sent.To.Value)
            && IsDelivered(sent)
            && this[(int)sent.To.Value].IsRunning;
        if (arrives && _bug.Reads(sent) is { } message)
        {
            this[(int)message.To.Value]
                .Step(Input.Received(Now, message, entries.Select(entry => entry.Entry).ToArray()), entries);
        }

        return true;
    }

    private bool SyncOne()
    {
        for (int count = _syncs.Count; count > 0; count--)
        {
            var (node, process) = _syncs.Dequeue();
            if (node.Process != process || !node.IsRunning)
            {
                continue;
            }

            if (!_heldDisks.ContainsKey((int)node.Id.Value))
            {
                node.Step(Input.JournalDurable(Now, node.Store.Complete()));
                return true;
            }

            _syncs.Enqueue((node, process));
        }

        return false;
    }

    private bool InstallOne()
    {
        if (FetchesWait || !_fetches.TryDequeue(out var fetch))
        {
            return false;
        }

        if (fetch.Node.IsRunning)
        {
            fetch.Node.Install(StoreOf(fetch.From).Manifest, this[(int)fetch.From.Value].Core!.Term);
        }

        return true;
    }
}
