namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// What surrounds a simulated node: time, network, disks' pace and the observer. Chance decides in one implementation,
/// a script in the other.
/// </summary>
internal interface INodeWorld
{
    Random Random { get; }

    CoreOptions Options { get; }

    SafetyRules Rules { get; }

    ClusterOracle Oracle { get; }

    long Now { get; }

    /// <summary>What time it is, whatever clocks say.</summary>
    long TrueTicks { get; }

    /// <summary>What a node's own clock shows.</summary>
    ClockReading ClockOf(SimulatedNode node);

    /// <summary>What the host of the core does wrong.</summary>
    HostMistake Mistake { get; }

    /// <summary>The command that an entry brings; null when it brings none.</summary>
    ClientCommand? CommandOf(long payload);

    /// <summary>Sends a client's command on to who leads.</summary>
    void Forward(SimulatedNode from, NodeId to, ClientCommand command, long payload, Action<CommandResult> answer);

    /// <summary>A number that no other read has.</summary>
    long NextNumber();

    SimulatedStore StoreOf(NodeId id);

    void Saw(string mark);

    void Send(Message message, StoredEntry[] entries);

    void CompleteLater(SimulatedNode node, long write);

    void FetchLater(SimulatedNode node, NodeId from);

    /// <summary>The core of a running node says that it must stop.</summary>
    void Failed(SimulatedNode node);

    /// <summary>Whether the node, just after a manifest was put in place, was ended there.</summary>
    bool DiesInInstall(SimulatedNode node);

    void PerhapsCrash(SimulatedNode node, bool hasVoted);
}
