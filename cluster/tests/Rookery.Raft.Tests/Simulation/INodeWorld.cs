namespace Rookery.Raft.Tests.Simulation;

/// <summary>
/// The environment of a simulated node: time, network, duration of disk operations and the observer. One implementation
/// is random, the others follow a script.
/// </summary>
internal interface INodeWorld
{
    Random Random { get; }

    CoreOptions Options { get; }

    SafetyRules Rules { get; }

    ClusterOracle Oracle { get; }

    long Now { get; }

    /// <summary>The true time, whatever clocks show.</summary>
    long TrueTicks { get; }

    /// <summary>Returns what a node's own clock shows.</summary>
    ClockReading ClockOf(SimulatedNode node);

    /// <summary>The mistake of the core's host.</summary>
    HostMistake Mistake { get; }

    /// <summary>Returns the command of an entry; null when it has none.</summary>
    ClientCommand? CommandOf(long payload);

    /// <summary>Forwards a client's command to the leader.</summary>
    void Forward(SimulatedNode from, NodeId to, ClientCommand command, long payload, Action<CommandResult> answer);

    /// <summary>Returns a unique number for a read.</summary>
    long NextNumber();

    SimulatedStore StoreOf(NodeId id);

    void Saw(string mark);

    void Send(Message message, StoredEntry[] entries);

    void CompleteLater(SimulatedNode node, long write);

    void FetchLater(SimulatedNode node, NodeId from);

    /// <summary>Handles a running node whose core must stop.</summary>
    void Failed(SimulatedNode node);

    /// <summary>Whether the node must end just after installing a snapshot.</summary>
    bool DiesInInstall(SimulatedNode node);

    void PerhapsCrash(SimulatedNode node, bool hasVoted);
}
