using Rookery.Platform;
using Rookery.Storage.Engine;
using Rookery.Storage.Manifest;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Install;

/// <summary>
/// The changes since a sequence: rows and deletions, as of one manifest. For a store that has applied everything below
/// that sequence. Keeps the manifest's run files until it is disposed, so that other work continues during the long
/// write.
/// </summary>
public sealed class StateChanges : IDisposable
{
    private const long StepBytes = 256 * 1024;

    private readonly Lock _gate = new();
    private readonly EngineContext _context;
    private readonly RunSet _runs;
    private readonly ManifestRecord _manifest;
    private readonly Deletions _deletions;
    private bool _isDisposed;

    internal StateChanges(EngineContext context, RunSet runs, ManifestRecord manifest, Deletions deletions, long since)
    {
        runs.Acquire();
        _context = context;
        _runs = runs;
        _manifest = manifest;
        _deletions = deletions;
        Since = since;
    }

    /// <summary>The lowest sequence of the rows.</summary>
    public long Since { get; }

    /// <summary>Position of the manifest in the log.</summary>
    public ManifestPosition Position => _manifest.Position;

    /// <summary>Total length of all runs of the manifest.</summary>
    public long WholeBytes => _runs.Files().DistinctBy(file => file.Summary.FileId).Sum(file => file.Summary.FileBytes);

    /// <summary>Estimated length of the changes, assuming that a run's sequences are spread evenly.</summary>
    public long EstimatedBytes =>
        (long)
            _runs
                .Files()
                .DistinctBy(file => file.Summary.FileId)
                .Sum(file => file.Summary.FileBytes * ShareOf(file.Summary));

    /// <summary>Writes the changes. Callable from any thread, once.</summary>
    /// <param name="directory">A missing or empty directory. After a failure it contains files without a
    /// manifest.</param>
    /// <param name="maxBytes">Length beyond which writing stops.</param>
    /// <returns>False if the changes exceed <paramref name="maxBytes"/>.</returns>
    /// <exception cref="DamagedException">A run is damaged.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    /// <exception cref="OperationCanceledException">This object was disposed meanwhile.</exception>
    public bool Write(string directory, long maxBytes)
    {
        lock (_gate)
        {
            ThrowIfDisposed();
            _context.Disk.CreateDirectory(directory);
            var groups = new List<ManifestGroup>();
            long nextFile = FileNumbers.FirstFrom(1);
            foreach (byte group in _context.Sources.Tables.Groups)
            {
                using var output = new ChangesOutput(_context, directory, group, nextFile);
                if (!WriteGroup(group, output, maxBytes))
                {
                    return false;
                }

                maxBytes -= output.Bytes;
                nextFile += output.Files.Count;
                if (output.Files.Count > 0)
                {
                    // The written files contain no rows that the manifest's range tombstones hide.
                    groups.Add(
                        new ManifestGroup(
                            group,
                            [
                                [
                                    .. output.Files.Select(file => new ManifestFile(
                                        file,
                                        From: default,
                                        DeadBytes: 0,
                                        ClearedThrough: Position.Sequence,
                                        file.FileId
                                    )),
                                ],
                            ]
                        )
                    );
                }
            }

            _context.Disk.SyncDirectory(directory);
            new ManifestSlots(_context.Disk, directory, _context.Io).Write(
                new ManifestRecord
                {
                    Revision = 1,
                    FeatureLevel = _manifest.FeatureLevel,
                    Position = Position,
                    NextFileId = nextFile,
                    Groups = groups,
                    RangeTombstones = _deletions.Since(Since).Pieces,
                    PastRangeTombstones = [],
                    DroppedThrough = _deletions.DroppedThrough,
                    StoreId = Guid.Empty,
                    Since = Since,
                }
            );
            return true;
        }
    }

    /// <summary>Releases the runs, after waiting for <see cref="Write"/> to stop.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isDisposed, true))
        {
            return;
        }

        lock (_gate)
        {
            _runs.Release();
        }
    }

    private double ShareOf(RunSummary file)
    {
        if (file.LargestSequence < Since)
        {
            return 0;
        }

        long sequences = file.LargestSequence - file.SmallestSequence + 1;
        return Math.Min(1, (double)(file.LargestSequence - Since + 1) / sequences);
    }

    private bool WriteGroup(byte group, ChangesOutput output, long maxBytes)
    {
        using MergingCursor rows = Open(group);
        long unpaced = 0;
        for (bool hasRow = rows.SeekForward([]); hasRow; hasRow = rows.Move())
        {
            if (rows.Sequence >= Since && _deletions.Ranges.CoveringSequence(rows.Key) <= rows.Sequence)
            {
                output.Add(rows.Key, rows.Sequence, rows.Kind, rows.Value);
            }

            unpaced += rows.Key.Length + rows.Value.Length;
            if (unpaced > StepBytes)
            {
                ThrowIfDisposed();
                _context.Options.Pacer?.Yield(unpaced, urgent: false);
                unpaced = 0;
                if (output.Bytes > maxBytes)
                {
                    return false;
                }
            }
        }

        if (rows.Damage is { } damage)
        {
            throw new DamagedException(damage.ToEvent());
        }

        output.Finish();
        return output.Bytes <= maxBytes;
    }

    // Skips files whose rows are all below Since: a changed key has its newest version in another file.
    private MergingCursor Open(byte group)
    {
        var sources = new List<IRowCursor>();
        foreach (SortedRun run in _runs.Of(group))
        {
            RunEntry[] files = [.. run.Files.Where(file => file.Summary.LargestSequence >= Since)];
            if (files.Length > 0)
            {
                sources.Add(
                    new SortedRunCursor(
                        files,
                        _context.Sources.Damage,
                        _context.Sources.Tables.NamesOf(group),
                        static reader => reader.OpenSequentialCursor(IoKind.Backup)
                    )
                );
            }
        }

        return new MergingCursor(sources);
    }

    private void ThrowIfDisposed()
    {
        if (Volatile.Read(ref _isDisposed))
        {
            throw new OperationCanceledException("The changes are no longer needed.");
        }
    }
}
