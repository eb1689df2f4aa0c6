namespace Rookery.Simulation;

/// <summary>Builds the tree of names that a power cut leaves, with files that choose their surviving sectors when they are read.</summary>
internal sealed class CrashImage(PowerLoss loss)
{
    private readonly Dictionary<SimulatedDirectory, int> keptChanges = [];
    private readonly Dictionary<SimulatedFile, SimulatedFile> files = [];
    private int lastId;

    internal int LastId => lastId;

    internal IReadOnlyCollection<SimulatedFile> Files => files.Values;

    internal SimulatedDirectory Build(SimulatedDirectory root, IEnumerable<SimulatedDirectory> directories)
    {
        foreach (var directory in directories)
        {
            keptChanges[directory] = directory.ChangesAfter(loss);
        }

        KeepMovedFiles();
        return Copy(root);
    }

    /// <summary>Where the removal of a move survived, its addition in the other directory did too, and all changes of that directory before it.</summary>
    private void KeepMovedFiles()
    {
        bool changed = true;
        while (changed)
        {
            changed = false;
            foreach (var (directory, kept) in keptChanges.ToArray())
            {
                foreach (var (_, change) in directory.Moves.TakeWhile(move => move.Index < kept))
                {
                    var (target, addition) = change.Needs!.Value;
                    int least = target.IndexOf(addition) + 1;
                    if (keptChanges[target] < least)
                    {
                        keptChanges[target] = least;
                        changed = true;
                    }
                }
            }
        }
    }

    private SimulatedDirectory Copy(SimulatedDirectory directory)
    {
        var copy = new SimulatedDirectory(++lastId);
        foreach (var (name, node) in directory.NamesAfter(keptChanges[directory]))
        {
            copy.AddOriginal(name, node is SimulatedDirectory inner ? Copy(inner) : Copy((SimulatedFile)node));
        }

        return copy;
    }

    private SimulatedFile Copy(SimulatedFile file)
    {
        if (!files.TryGetValue(file, out var copy))
        {
            files[file] = copy = file.After(loss, ++lastId);
        }

        copy.Links++;
        return copy;
    }
}
