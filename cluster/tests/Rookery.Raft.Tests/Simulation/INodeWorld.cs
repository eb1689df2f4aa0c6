namespace Rookery.Raft.Tests.Simulation;

/// <summary>What surrounds a simulated node: time, network, disks' pace and the observer. Chance decides in one implementation, a script in the other.</summary>
internal interface INodeWorld
{
    Random Random { get; }

    CoreOptions Options { get; }

    SafetyRules Rules { get; }

    ClusterOracle Oracle { get; }

    long Now { get; }

    SimulatedStore StoreOf(NodeId id);

    void Saw(string mark);

    void Send(Message message, StoredEntry[] entries);

    void CompleteLater(SimulatedNode node, long write);

    void FetchLater(SimulatedNode node, NodeId from);

    void PerhapsCrash(SimulatedNode node, bool hasVoted);
}
