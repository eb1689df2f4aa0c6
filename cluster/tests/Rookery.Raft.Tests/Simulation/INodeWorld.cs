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

    /// <summary>Microseconds since the simulation's start.</summary>
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

    /// <summary>Counts an event, so that tests can check that it occurs at all.</summary>
    void Mark(string mark);

    void Send(Message message, StoredEntry[] entries);

    /// <summary>Completes a node's journal write once its disk has synced it.</summary>
    void CompleteLater(SimulatedNode node, long write);

    /// <summary>Installs the snapshot of another node once it is fetched.</summary>
    void FetchLater(SimulatedNode node, NodeId from);

    /// <summary>Handles a running node whose core must stop.</summary>
    void HandleFailure(SimulatedNode node);

    /// <summary>Whether the node must end just after installing a snapshot.</summary>
    bool DiesInInstall(SimulatedNode node);

    /// <summary>May crash a node after a step that sent or wrote something.</summary>
    /// <param name="node">The node.</param>
    /// <param name="hasVoted">Whether it requested or granted a vote in that step.</param>
    void PerhapsCrash(SimulatedNode node, bool hasVoted);
}
