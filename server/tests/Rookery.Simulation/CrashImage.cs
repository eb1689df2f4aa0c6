namespace Rookery.Simulation;

/// <summary>
/// Builds the tree of names that a power cut leaves, with files that choose their surviving sectors when they are read.
/// </summary>
/// <param name="loss">What the power cut leaves.</param>
/// <param name="secondLoss">What it leaves on the second device.</param>
internal sealed class CrashImage(PowerLoss loss, PowerLoss secondLoss)
{
    private readonly Dictionary<SimulatedDirectory, int> _keptChanges = [];
    private readonly Dictionary<SimulatedFile, SimulatedFile> _files = [];
    private int _lastId;

    internal int LastId => _lastId;

    internal IReadOnlyCollection<SimulatedFile> Files => _files.Values;

    internal SimulatedDirectory Build(SimulatedDirectory root, IEnumerable<SimulatedDirectory> directories)
    {
        foreach (var directory in directories)
        {
            _keptChanges[directory] = directory.ChangesAfter(LossOf(directory));
        }

        KeepMovedFiles();
        return Copy(root);
    }

    private PowerLoss LossOf(SimulatedDirectory directory) => directory.IsOnSecondDevice ? secondLoss : loss;

    /// <summary>
    /// If the removal of a moved file survives, its addition in the other directory survives too, with all earlier
    /// changes of that directory.
    /// </summary>
    private void KeepMovedFiles()
    {
        bool changed = true;
        while (changed)
        {
            changed = false;
            foreach (var (directory, kept) in _keptChanges.ToArray())
            {
                foreach (var (_, change) in directory.Moves.TakeWhile(move => move.Index < kept))
                {
                    var (target, addition) = change.Needs!.Value;
                    int required = target.IndexOf(addition) + 1;
                    if (_keptChanges[target] < required)
                    {
                        _keptChanges[target] = required;
                        changed = true;
                    }
                }
            }
        }
    }

    private SimulatedDirectory Copy(SimulatedDirectory directory)
    {
        var copy = new SimulatedDirectory(++_lastId) { IsOnSecondDevice = directory.IsOnSecondDevice };
        foreach (var (name, node) in directory.NamesAfter(_keptChanges[directory]))
        {
            copy.AddOriginal(
                name,
                node is SimulatedDirectory inner ? Copy(inner) : Copy((SimulatedFile)node, LossOf(directory))
            );
        }

        return copy;
    }

    private SimulatedFile Copy(SimulatedFile file, PowerLoss lossOfDevice)
    {
        if (!_files.TryGetValue(file, out var copy))
        {
            _files[file] = copy = file.After(lossOfDevice, ++_lastId);
        }

        copy.Links++;
        return copy;
    }
}
