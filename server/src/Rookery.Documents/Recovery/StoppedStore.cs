using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Recovery;

/// <summary>
/// The data of a node that does not run, opened to see how far they reach and to recover from them. Nothing in them
/// changes.
/// </summary>
public sealed class StoppedStore : IDisposable
{
    private readonly DataDirectory _directory;
    private readonly StorageEngine? _storage;
    private readonly StoppedJournal? _journal;
    private readonly ClusterRecords _records = new();
    private readonly Dictionary<string, byte[]?> _laterRecords = new(StringComparer.Ordinal);

    private StoppedStore(NodeOptions options, IDisk disk, MemoryBudget memory, IIoRecorder io, TimeProvider time)
    {
        _directory = DataDirectory.Lock(disk, options);
        try
        {
            Ids = DataDirectory.ReadFormat(disk, _directory.Path);
            _storage = StorageEngine.Open(
                disk,
                NodeStore.StorageOptionsOf(options, _directory.StoragePath) with
                {
                    ReadOnly = true,
                    WasBegun = true,
                },
                memory,
                io,
                time
            );
            _records.Open(_storage);
            _journal = TryOpenJournal(options, disk, io, out string? lost);
            Damage = lost;
            ReadJournal();
            (StartDamage, RecoveryDamage) = FindDamage();
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>Whose data they are.</summary>
    public NodeIds Ids { get; }

    /// <summary>The end of what is held.</summary>
    public JournalPosition Last =>
        _journal is { } journal && journal.Position.Index > Tables.Index ? journal.Position : Tables;

    /// <summary>
    /// What is wrong with the journal and lost by it, in a sentence; null when it holds everything that was
    /// acknowledged here.
    /// </summary>
    public string? Damage { get; }

    /// <summary>
    /// Why no node starts on the tables, in a sentence: they lack rows that each start reads; null when it would.
    /// </summary>
    public string? StartDamage { get; }

    /// <summary>
    /// Why no new node can be made of the tables, in a sentence: they lack rows that a start reads, or who the members
    /// were; null when it can.
    /// </summary>
    public string? RecoveryDamage { get; }

    /// <summary>The log time of the last write that is held; null when none is in the journal any more.</summary>
    public DateTimeOffset? LastWritten { get; private set; }

    /// <summary>
    /// The configuration of members in force at the end, as its entry holds it; empty when it is not known.
    /// </summary>
    public ReadOnlyMemory<byte> Configuration => _journal?.Configuration ?? default;

    /// <summary>The last vote, as its frame holds it; empty when it is not known.</summary>
    public ReadOnlyMemory<byte> Vote => _journal?.Vote ?? default;

    private JournalPosition Tables => new(_storage!.Durable.Index, _storage.Durable.Term, _storage.Durable.Sequence);

    /// <summary>
    /// Whether a database was ever made, as far as tables and journal tell, or anything else was written but records of
    /// the cluster.
    /// </summary>
    public bool HasServed { get; private set; }

    /// <summary>
    /// The keys of the records that the members agreed on, and of those that the journal tells of and that are gone.
    /// </summary>
    /// <exception cref="DamagedException">One cannot be read.</exception>
    public IEnumerable<string> RecordKeys =>
        _records
            .List(string.Empty)
            .Select(static record => record.Key)
            .Union(_laterRecords.Keys, StringComparer.Ordinal);

    /// <summary>Opens them, and holds them so that no node starts on them.</summary>
    /// <exception cref="DataDirectoryInUseException">A node runs on them.</exception>
    /// <exception cref="IOException">There are none, or they are of a newer version; or the directory of the journal is
    /// not there.</exception>
    public static StoppedStore Open(
        NodeOptions options,
        IDisk disk,
        MemoryBudget memory,
        IIoRecorder io,
        TimeProvider time
    ) =>
        DataDirectory.IsNewAt(disk, options.DataDirectory)
            ? throw new DataFormatException(
                DataDirectory.WhyNoFormat(disk, options.DataDirectory)
                    ?? $"There is no data directory of a node at {options.DataDirectory}."
            )
            {
                IsOfDirectory = true,
            }
            : new StoppedStore(options, disk, memory, io, time);

    /// <summary>
    /// The value of a record that the members agreed on, or were about to: for names, not for decisions.
    /// </summary>
    /// <returns>Null when there is none, or it cannot be read.</returns>
    public ReadOnlyMemory<byte>? FindRecord(string key)
    {
        if (_laterRecords.TryGetValue(key, out byte[]? later))
        {
            return later;
        }

        try
        {
            return _records.TryGet(key, out var record) ? record.Value : null;
        }
        catch (DamagedException)
        {
            return null;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _journal?.Dispose();
        _storage?.Dispose();
        _records.Complete();
        _directory.Dispose();
    }

    /// <summary>Makes another directory with the tables, sharing the runs by hard links.</summary>
    internal void CopyTables(string target) => _storage!.Checkpoint(target);

    /// <summary>The entries behind the tables.</summary>
    internal IEnumerable<JournalFrame> ReadEntries()
    {
        if (_journal is null)
        {
            yield break;
        }

        using var reader = _journal.Read(Tables.Index + 1);
        while (reader.Next(out var frame))
        {
            yield return frame with
            {
                Payload = frame.Payload.ToArray(),
            };
        }
    }

    private (string? OfStart, string? OfRecovery) FindDamage()
    {
        string? ofStart = DamageOf(() =>
            HasServed |= new NodeState(_storage!, new DatabaseCatalog()).Record.LastDatabaseNumber > 0
        );
        return (
            ofStart,
            ofStart ?? DamageOf(() => _ = ClusterRecordPrefix.BoundToMembers.SelectMany(_records.List).Count())
        );

        static string? DamageOf(Action read)
        {
            try
            {
                read();
                return null;
            }
            catch (DamagedException damaged)
            {
                return damaged.Message;
            }
        }
    }

    private StoppedJournal? TryOpenJournal(NodeOptions options, IDisk disk, IIoRecorder io, out string? lost)
    {
        if (!disk.Exists(_directory.JournalPath))
        {
            throw new DataFormatException(
                $"{_directory.Path} has no journal in {_directory.JournalPath}. Name the journal's directory "
                    + $"with --journal; where it is lost, make an empty one of that name."
            )
            {
                IsOfDirectory = true,
            };
        }

        var journalOptions = new JournalOptions
        {
            Directory = _directory.JournalPath,
            SegmentBytes = options.SegmentBytes,
            StoreId = _storage!.StoreId,
        };
        try
        {
            var journal = StoppedJournal.Open(
                disk,
                journalOptions,
                new JournalKnowledge(Tables.Index, Tables.Term, HasPeers: true)
                {
                    ManifestOperations = Tables.Operations,
                    WasBegun = true,
                    Rebase = StateInstallation.RebaseOf(_storage),
                },
                io
            );
            long acknowledged = journal.Recovery.MayHaveAcknowledged.Index;
            lost =
                acknowledged > Math.Max(journal.Position.Index, Tables.Index)
                    ? $"Its journal is damaged: entries {Math.Max(journal.Position.Index, Tables.Index) + 1} "
                        + $"to {acknowledged}, which it may have acknowledged, cannot be read."
                    : null;
            return journal;
        }
        catch (JournalDamagedException damaged)
        {
            lost =
                $"Its journal cannot be read, so everything behind entry {Tables.Index}, which the tables "
                + $"hold, is lost: {damaged.Message}";
            return null;
        }
        catch (DiskException refused) when (refused.Error == Errno.WouldBlock)
        {
            throw new DataDirectoryInUseException(_directory.JournalPath);
        }
    }

    /// <summary>
    /// Reads what is told of the log without applying it: its last time, and what it says of the cluster's records.
    /// </summary>
    private void ReadJournal()
    {
        if (_journal is null)
        {
            return;
        }

        using var reader = _journal.Read(0);
        while (reader.Next(out var frame))
        {
            if (
                frame.Type == FrameType.Batch
                && Payload.ContentLength(frame.Payload.Span) is >= FrameContent.HeadBytes and var length
            )
            {
                byte[] bytes = new byte[length];
                if (Payload.TryDecode(frame.Payload.Span, bytes))
                {
                    Read(new FrameContent(bytes));
                }
                else
                {
                    HasServed = true; // nobody knows what it says
                }
            }
        }
    }

    private void Read(FrameContent content)
    {
        // A log that was never told a time counts from the year 1.
        LastWritten =
            content.LogTicks > TimeSpan.TicksPerDay ? new DateTimeOffset(content.LogTicks, TimeSpan.Zero) : null;
        for (int i = 0; i < content.Count; i++)
        {
            var command = new CommandReader(content.Next());
            HasServed |= command.Kind != CommandKind.SetClusterRecords;
            while (command.Kind == CommandKind.SetClusterRecords && command.TryReadRecord(out var record))
            {
                _laterRecords[Encoding.ASCII.GetString(record.Key)] = record.IsDelete ? null : record.Value.ToArray();
            }
        }
    }
}
