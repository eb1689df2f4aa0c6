namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// A cluster that does only what a script says: time passes for the nodes that are named, messages go to those that are reachable and pass the filter, disks
/// sync at once unless they are held. For bugs so rare that chance does not find them.
/// </summary>
internal sealed class ScriptedWorld : INodeWorld
{
    private readonly List<SimulatedNode> nodes = [];
    private readonly Queue<(Message Message, StoredEntry[] Entries)> messages = new();
    private readonly List<(Message Message, StoredEntry[] Entries)> lingering = [];
    private readonly Queue<(SimulatedNode Node, int Process)> syncs = new();
    private readonly HashSet<int> reachable = [];
    private readonly HashSet<int> heldDisks = [];
    private long reads;

    public ScriptedWorld(PlantedBug bug, int voters, int learners = 0)
    {
        (Rules, Mistake) = (bug.Rules, bug.Mistake);
        var configuration = Configuration.Of(Enumerable.Range(1, voters).Select(id => new NodeId(id)), Enumerable.Range(voters + 1, learners).Select(id => new NodeId(id)));
        for (int id = 1; id <= voters + learners; id++)
        {
            nodes.Add(new SimulatedNode(new NodeId(id), new SimulatedStore(configuration), this));
            reachable.Add(id);
        }

        nodes.ForEach(node => node.Start());
    }

    public Random Random { get; } = new(1);

    /// <summary>One entry a message, so that a script can let single ones through.</summary>
    public CoreOptions Options { get; } = new() { MostMessageBytes = 1, CautionMicroseconds = 0 };

    public SafetyRules Rules { get; }

    public ClusterOracle Oracle { get; } = new();

    public long Now { get; private set; }

    /// <summary>Which messages wait until <see cref="Arrive"/>.</summary>
    public Predicate<Message> Lingers { get; set; } = _ => false;

    /// <summary>Which messages arrive, of those between reachable nodes.</summary>
    public Predicate<Message> Passes { get; set; } = _ => true;

    public SimulatedNode this[int id] => nodes[id - 1];

    public HostMistake Mistake { get; }

    public ClientCommand? CommandOf(long payload) => null;

    public long NextNumber() => ++reads;

    public void Forward(SimulatedNode from, NodeId to, ClientCommand command, long payload, Action<CommandResult> answer) => throw new NotSupportedException("scripts ask the leader");

    public SimulatedStore StoreOf(NodeId id) => this[(int)id.Value].Store;

    public void Saw(string mark)
    {
    }

    public void Send(Message message, StoredEntry[] entries) => messages.Enqueue((message, entries));

    public void CompleteLater(SimulatedNode node, long write) => syncs.Enqueue((node, node.Process));

    public void FetchLater(SimulatedNode node, NodeId from) => node.Install(StoreOf(from).Manifest);

    public void Failed(SimulatedNode node) => node.Crash();

    public void PerhapsCrash(SimulatedNode node, bool hasVoted)
    {
    }

    /// <summary>Only these nodes reach each other from now on; what was on the way is lost.</summary>
    public void Connect(params int[] ids)
    {
        messages.Clear();
        reachable.Clear();
        reachable.UnionWith(ids);
        Passes = _ => true;
    }

    /// <summary>What lingered arrives now.</summary>
    public void Arrive()
    {
        Lingers = _ => false;
        Passes = _ => true;
        lingering.ForEach(messages.Enqueue);
        lingering.Clear();
        Settle();
    }

    /// <summary>A message that somebody sent long ago.</summary>
    public void Receive(Message message)
    {
        messages.Enqueue((message, []));
        Settle();
    }

    public void HoldDisk(int id) => heldDisks.Add(id);

    public void ReleaseDisk(int id)
    {
        heldDisks.Remove(id);
        Settle();
    }

    public void Restart(int id)
    {
        this[id].Crash();
        this[id].Start();
    }

    /// <summary>Time passes for one node until it leads; the others hear of it only by its messages.</summary>
    public void Elect(int id)
    {
        for (int tick = 0; tick < 200 && this[id].Core!.Role != Role.Leader; tick++)
        {
            Pass(id, 50_000);
        }

        Assert.True(this[id].Core!.Role == Role.Leader, $"{id} leads");
    }

    public void Pass(int id, long microseconds)
    {
        Now += microseconds;
        this[id].Step(Input.Tick(Now));
        Settle();
    }

    public void Propose(int id, long payload)
    {
        this[id].Propose(payload);
        Settle();
    }

    public ChangeAnswer Change(int id, MemberChange change, int about)
    {
        var answer = this[id].Change(change, new NodeId(about));
        Settle();
        return answer;
    }

    /// <summary>Delivers and syncs until nothing is on the way. No time passes.</summary>
    public void Settle()
    {
        while (DeliverOne() || SyncOne())
        {
        }
    }

    private bool DeliverOne()
    {
        if (!messages.TryDequeue(out var next))
        {
            return false;
        }

        var (message, entries) = next;
        if (Lingers(message))
        {
            lingering.Add(next);
            return true;
        }

        bool arrives = reachable.Contains((int)message.From.Value) && reachable.Contains((int)message.To.Value) && Passes(message);
        if (arrives)
        {
            this[(int)message.To.Value].Step(Input.Received(Now, message, entries.Select(entry => entry.Entry).ToArray()), entries);
        }

        return true;
    }

    private bool SyncOne()
    {
        for (int count = syncs.Count; count > 0; count--)
        {
            var (node, process) = syncs.Dequeue();
            if (heldDisks.Contains((int)node.Id.Value))
            {
                syncs.Enqueue((node, process));
            }
            else if (node.Process == process)
            {
                node.Step(Input.JournalDurable(Now, node.Store.Complete()));
                return true;
            }
        }

        return false;
    }
}
