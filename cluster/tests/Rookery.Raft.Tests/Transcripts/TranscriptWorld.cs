using Rookery.Raft.Tests.Simulation;

namespace Rookery.Raft.Tests.Transcripts;

/// <summary>
/// A cluster in which time passes and messages arrive only by command of a transcript. Disks sync at once unless held.
/// </summary>
internal sealed class TranscriptWorld : INodeWorld
{
    /// <summary>The duration of one tick.</summary>
    public const long TickMicroseconds = 100_000;

    private readonly SortedDictionary<int, SimulatedNode> _nodes = [];
    private readonly List<Flight> _flights = [];
    private readonly List<SimulatedNode> _syncs = [];
    private readonly HashSet<int> _heldDisks = [];
    private readonly List<int[]> _groups = [];
    private readonly PlantedBug _bug;
    private long _numbers;

    public TranscriptWorld(PlantedBug bug, int[] voters, int[] learners)
    {
        _bug = bug;
        var configuration = Configuration.Of(
            voters.Select(id => new NodeId(id)),
            learners.Select(id => new NodeId(id))
        );
        foreach (int id in voters.Concat(learners))
        {
            _nodes[id] = new SimulatedNode(new NodeId(id), new SimulatedStore(configuration), this);
        }

        foreach (var node in _nodes.Values)
        {
            node.Start();
        }
    }

    public Random Random { get; } = new(1);

    /// <summary>One entry per message, so that a transcript can deliver single entries.</summary>
    public CoreOptions Options { get; } = new() { MaxMessageBytes = 1, CautionMicroseconds = 0 };

    public SafetyRules Rules => _bug.Rules;

    public HostMistake Mistake => _bug.Mistake;

    public ClusterOracle Oracle { get; } = new();

    public long Now { get; private set; }

    public long TrueTicks =>
        ClusterClock.EarliestTicks + (300 * TimeSpan.TicksPerDay) + (Now * TimeSpan.TicksPerMicrosecond);

    public IEnumerable<int> Ids => _nodes.Keys;

    /// <summary>Events since the last command that neither states nor messages show.</summary>
    public List<string> Notes { get; } = [];

    /// <summary>The messages in flight, oldest first.</summary>
    public IReadOnlyList<Flight> Flights => _flights;

    public SimulatedNode this[int id] =>
        _nodes.TryGetValue(id, out var node) ? node : throw new InvalidDataException($"There is no member {id}.");

    public ClockReading ClockOf(SimulatedNode node) => new(TrueTicks, true);

    public ClientCommand? CommandOf(long payload) => null;

    public long NextNumber() => ++_numbers;

    public SimulatedStore StoreOf(NodeId id) => this[(int)id.Value].Store;

    public void Mark(string mark)
    {
        if (Enum.TryParse<CoreEvent>(mark, out _))
        {
            Notes.Add($"event {mark}");
        }
    }

    public void Send(Message message, StoredEntry[] entries)
    {
        if (!IsCut(message.From, message.To) && this[(int)message.To.Value].IsRunning)
        {
            _flights.Add(new Flight(message, entries));
        }
    }

    public void CompleteLater(SimulatedNode node, long write) => _syncs.Add(node);

    public void FetchLater(SimulatedNode node, NodeId from) => _flights.Add(new Flight(from, node.Id));

    public void HandleFailure(SimulatedNode node)
    {
        Notes.Add($"{node.Id} halts");
        node.LosePower();
    }

    public void Forward(
        SimulatedNode from,
        NodeId to,
        ClientCommand command,
        long payload,
        Action<CommandResult> answer
    ) => throw new NotSupportedException("transcripts ask the leader");

    public bool DiesInInstall(SimulatedNode node) => false;

    public void PerhapsCrash(SimulatedNode node, bool hasVoted) { }

    /// <summary>Disconnects members of different groups. Messages between them are lost.</summary>
    public void Partition(IEnumerable<int[]> groups)
    {
        _groups.Clear();
        _groups.AddRange(groups);
        _flights.RemoveAll(flight => IsCut(flight.From, flight.To));
    }

    public void HoldDisk(int id) => _heldDisks.Add(id);

    public void ReleaseDisk(int id)
    {
        _heldDisks.Remove(id);
        SyncAll();
    }

    /// <summary>Cuts a member's power: unsynced data and its messages in flight are lost.</summary>
    public void Crash(int id)
    {
        this[id].LosePower();
        _heldDisks.Remove(id);
        _flights.RemoveAll(flight => flight.To.Value == id || flight.From.Value == id);
    }

    public void Restart(int id)
    {
        this[id].Start();
        SyncAll();
    }

    /// <summary>Lets a tick pass for some members. Messages stay in flight.</summary>
    public void Tick(IEnumerable<int> ids)
    {
        Now += TickMicroseconds;
        foreach (int id in ids.Where(id => this[id].IsRunning))
        {
            this[id].Step(Input.Tick(Now));
            SyncAll();
        }
    }

    public void Step(int id, Func<long, Input> input)
    {
        this[id].Step(input(Now));
        SyncAll();
    }

    /// <summary>Runs an action on a running member, and syncs the result.</summary>
    public void Do(int id, Action<SimulatedNode> action)
    {
        action(this[id]);
        SyncAll();
    }

    /// <summary>Delivers the oldest message that passes.</summary>
    /// <returns>The number of delivered messages: one or none.</returns>
    public int DeliverOne(Predicate<Flight> passes) =>
        _flights.Find(passes) is { } oldest ? Deliver(flight => flight == oldest) : 0;

    /// <summary>Delivers the messages that pass, oldest first.</summary>
    /// <returns>The number of delivered messages.</returns>
    public int Deliver(Predicate<Flight> passes)
    {
        var arriving = RemoveFlights(passes);
        foreach (var flight in arriving)
        {
            Deliver(flight);
            SyncAll();
        }

        return arriving.Count;
    }

    /// <summary>Drops the messages that pass.</summary>
    /// <returns>The number of dropped messages.</returns>
    public int Drop(Predicate<Flight> passes) => RemoveFlights(passes).Count;

    private List<Flight> RemoveFlights(Predicate<Flight> passes)
    {
        var taken = _flights.FindAll(passes);
        _flights.RemoveAll(passes);
        return taken;
    }

    private void Deliver(Flight flight)
    {
        var node = this[(int)flight.To.Value];
        if (!node.IsRunning)
        {
            return;
        }

        if (flight.Message is not { } sent)
        {
            var manifest = StoreOf(flight.From).Manifest;
            node.Install(manifest, this[(int)flight.From.Value].Core!.Term);
        }
        else if (_bug.Reads(sent) is { } message)
        {
            var entries = flight.Entries.Select(entry => entry.Entry).ToArray();
            node.Step(Input.Received(Now, message, entries), flight.Entries);
        }
    }

    private void SyncAll()
    {
        while (_syncs.FindIndex(node => !_heldDisks.Contains((int)node.Id.Value)) is >= 0 and var place)
        {
            var node = _syncs[place];
            _syncs.RemoveAt(place);
            if (node.IsRunning && node.Store.IsWriting)
            {
                node.Step(Input.JournalDurable(Now, node.Store.Complete()));
            }
        }
    }

    private bool IsCut(NodeId from, NodeId to) =>
        _groups.Count > 0 && !_groups.Exists(group => group.Contains((int)from.Value) && group.Contains((int)to.Value));
}

/// <summary>A message in flight, or a state of a member when <see cref="Message"/> is null.</summary>
internal sealed record Flight(NodeId From, NodeId To, Message? Message, StoredEntry[] Entries)
{
    public Flight(Message message, StoredEntry[] entries)
        : this(message.From, message.To, message, entries) { }

    public Flight(NodeId from, NodeId to)
        : this(from, to, null, []) { }
}
