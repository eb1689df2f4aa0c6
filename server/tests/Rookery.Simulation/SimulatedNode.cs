namespace Rookery.Simulation;

/// <summary>What a name in a simulated directory stands for.</summary>
internal abstract class SimulatedNode(int id)
{
    /// <summary>Its number on its disk; part of the seed of what survives of it.</summary>
    internal int Id { get; } = id;
}
