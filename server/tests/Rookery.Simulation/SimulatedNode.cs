namespace Rookery.Simulation;

/// <summary>A file or directory that names in a simulated directory refer to, like an inode.</summary>
internal abstract class SimulatedNode(int id)
{
    /// <summary>Its number on its disk, which is part of the seed that chooses its surviving data.</summary>
    internal int Id { get; } = id;
}
