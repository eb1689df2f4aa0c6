using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Storage;

namespace Rookery.Documents.Schedules;

/// <summary>
/// The leader's rounds over all databases: deletes what expired, refreshes and archives documents that are due. Each
/// change is a command that names versions, so a document that changed meanwhile is kept. Does nothing on other
/// members and in disabled databases. While the cluster's time is uncertain, it only registers documents.
/// </summary>
internal sealed class ScheduledWork(DatabaseCatalog databases, IConsensus consensus, TimeProvider time)
{
    // A command is at most this many documents and about this many bytes, so other writes are applied in between.
    private const int DocumentsPerCommand = 256;
    private const long BytesPerCommand = 2 << 20;

    // Bounds one round of registering. It continues in the next round.
    private const int DocumentsPerRound = 64 << 10;
    private const int DocumentsPerSnapshot = 2048;

    private static readonly TimeSpan ShortestInterval = TimeSpan.FromSeconds(1);

    private readonly Expiration _expiration = new(databases, consensus);

    // When each kind of work last began, by database and name of its configuration; replaced by each round.
    private Dictionary<(uint Database, string Name), long> _begun = [];

    /// <summary>Does the work that is due, once.</summary>
    /// <param name="interval">Time to the next round. Work that becomes due in its first half is done now.</param>
    /// <param name="cancellationToken">Ends the round.</param>
    public async Task RunOnceAsync(TimeSpan interval, CancellationToken cancellationToken)
    {
        var begun = _begun;
        _begun = [];
        if (!consensus.IsLeader)
        {
            return; // a member that becomes the leader begins with all work at once
        }

        await databases.ForEachReadableAsync(RunAsync, cancellationToken);

        async Task RunAsync(Database database, CancellationToken token)
        {
            if (database.Configurations.IsDisabled)
            {
                return;
            }

            if (IsDue("", ScheduleConfiguration.DefaultFrequency))
            {
                await _expiration.RunAsync(database, CommandKind.ExpireCompareExchange, long.MaxValue, token);
            }

            if (FindDue(ConfigurationName.Expiration) is { } expiration)
            {
                await _expiration.RunAsync(database, CommandKind.ExpireDocuments, expiration.MaxItems, token);
            }

            if (!database.Configurations.KeepsSchedules)
            {
                return;
            }

            await RegisterAsync(database, token);
            if (FindDue(ConfigurationName.Refresh) is { } refresh)
            {
                await ChangeAsync(database, ScheduleKind.Refresh, refresh.MaxItems, token);
            }

            if (FindDue(ConfigurationName.DataArchival) is { } archival)
            {
                await ChangeAsync(database, ScheduleKind.Archive, archival.MaxItems, token);
            }

            ScheduleConfiguration? FindDue(string name) =>
                ScheduleConfiguration.Of(database, name) is { IsEnabled: true } configuration
                && IsDue(name, configuration.Frequency)
                    ? configuration
                    : null;

            bool IsDue(string name, TimeSpan frequency)
            {
                long now = time.GetTimestamp();
                bool isDue =
                    !begun.TryGetValue((database.Number, name), out long last)
                    || time.GetElapsedTime(last, now) >= frequency - (interval / 2);
                _begun[(database.Number, name)] = isDue ? now : last;
                return isDue;
            }
        }
    }

    /// <summary>Returns the time to the next round: the shortest configured frequency, but at least a second.</summary>
    /// <param name="longest">The result if no configured frequency is shorter.</param>
    public TimeSpan FindInterval(TimeSpan longest)
    {
        var shortest = longest;
        foreach (var database in databases.All)
        {
            if (database.Configurations.Count == 0)
            {
                continue;
            }

            foreach (
                string name in (ReadOnlySpan<string>)
                    [ConfigurationName.Expiration, ConfigurationName.Refresh, ConfigurationName.DataArchival]
            )
            {
                if (
                    ScheduleConfiguration.Of(database, name) is { IsEnabled: true, Frequency: var frequency }
                    && frequency < shortest
                )
                {
                    shortest = frequency;
                }
            }
        }

        return shortest < ShortestInterval ? ShortestInterval : shortest;
    }

    private async Task ChangeAsync(
        Database database,
        ScheduleKind kind,
        long maxItems,
        CancellationToken cancellationToken
    )
    {
        byte[] from = [];
        int count = 0;
        for (long left = maxItems; left > 0; left -= count)
        {
            if (
                !consensus.IsLeader
                || consensus.Time is not { IsSure: true, UtcTicks: var nowTicks }
                || NextCommand(database, kind, nowTicks, ref from, out count, (int)Math.Min(left, DocumentsPerCommand))
                    is not { } command
            )
            {
                break;
            }

            var outcome = await consensus.ProposeAsync(command, cancellationToken);
            if (outcome.Rejection is not null || from.Length == 0)
            {
                break;
            }
        }
    }

    /// <summary>
    /// Encodes the change of the documents that were due first; returns null if none is. Skips documents that cannot be
    /// read, so that they do not block the others.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="kind">The change.</param>
    /// <param name="nowTicks">The current time, in UTC ticks.</param>
    /// <param name="from">The key at which the search starts: empty for the first command of a round, then the key
    /// after the previous command's last document, and empty again after the last command.</param>
    /// <param name="count">Number of documents in the command.</param>
    /// <param name="limit">Maximum number of documents in the command.</param>
    internal static CommandBuffer? NextCommand(
        Database database,
        ScheduleKind kind,
        long nowTicks,
        ref byte[] from,
        out int count,
        int limit = DocumentsPerCommand
    )
    {
        using var reader = database.OpenBackgroundReader();
        using var rows = ScheduleOperations.SeekDue(reader, kind, from, nowTicks);
        using var writer = new ScheduleWriter(database.Number, (ScheduleAction)kind);
        from = [];
        long bytes = 0;
        while (rows.MoveNext())
        {
            if (TryMeasure(reader, rows.Value, nowTicks, out long length))
            {
                var (dueTicks, etag) = ScheduleOperations.ReadKey(rows.Key);
                writer.Add(rows.Value, etag, dueTicks);
                bytes += length;
            }

            if (writer.Count == limit || bytes >= BytesPerCommand)
            {
                from = [.. rows.Key, 0]; // the next possible key
                break;
            }
        }

        count = writer.Count;
        return count == 0 ? null : writer.Complete();
    }

    private static bool TryMeasure(in DatabaseReader reader, ReadOnlySpan<byte> lowerId, long nowTicks, out long length)
    {
        length = 0;
        var database = reader.Database;
        try
        {
            if (reader.TryGetByLowerId(lowerId, out var document))
            {
                using (document)
                {
                    length = document.Length + RevisionCosts.Of(database, document.Head);
                    _ = document.Bytes; // reads and checks all chunks
                    new ChangeCheck(reader.Snapshot, database.Number, database, nowTicks).RunForStore(lowerId);
                }
            }

            return true;
        }
        catch (DamagedException)
        {
            return false;
        }
    }

    /// <summary>
    /// Registers documents that were stored before the database was configured, in the order of their ids. The progress
    /// is a configuration, so another leader continues there.
    /// </summary>
    private async Task RegisterAsync(Database database, CancellationToken cancellationToken)
    {
        var stored = database.Configurations.Find(ConfigurationName.ScheduleProgress);
        var before = stored.IsSet ? ScheduleProgress.Parse(stored.Json) : new ScheduleProgress();
        var progress = before;
        bool isEnd = before.IsDone;
        try
        {
            for (int read = 0; !isEnd && read < DocumentsPerRound; read += DocumentsPerSnapshot)
            {
                await Task.Yield();
                if (
                    cancellationToken.IsCancellationRequested
                    || !consensus.IsLeader
                    || !await TryProposeAsync(Register(database, ref progress, out isEnd))
                )
                {
                    return;
                }
            }
        }
        catch (SnapshotEndedException)
        {
            return; // the next round continues at the recorded progress
        }

        // While the same documents stay damaged, the progress is the same, and nothing is written.
        if (progress != before)
        {
            await TryProposeAsync(
                CommandEncoder.SetConfiguration(
                    database.Number,
                    ConfigurationName.ScheduleProgress,
                    progress.ToJson(),
                    stored.Etag
                )
            );
        }

        async ValueTask<bool> TryProposeAsync(CommandBuffer? command) =>
            command is null || (await consensus.ProposeAsync(command, cancellationToken)).Rejection is null;
    }

    // Reads the next documents. Returns null if none of them is scheduled and not registered yet.
    private static CommandBuffer? Register(Database database, ref ScheduleProgress progress, out bool isEnd)
    {
        ReadOnlyMemory<byte> damagedTo = default; // documents before this key are among damaged ones
        using var reader = database.OpenBackgroundReader();
        using var documents = reader.SeekAllReadable(ExtendDamage, Encoding.UTF8.GetBytes(progress.After));
        using var writer = new ScheduleWriter(database.Number, ScheduleAction.Register);
        Span<byte> buffer = stackalloc byte[Key.MaxBytes + DocumentId.MaxBytes];
        byte[] end = progress.End is null
            ? []
            : KeyOf(database, Encoding.UTF8.GetBytes(progress.End), buffer).ToArray();
        byte[] last = Encoding.UTF8.GetBytes(progress.After);
        isEnd = false;
        for (int i = 0; i < DocumentsPerSnapshot; i++)
        {
            isEnd = !documents.MoveNext();
            var id = isEnd ? default : documents.Head.Id;
            var key = isEnd ? default : KeyOf(database, id, buffer);
            if (!damagedTo.IsEmpty)
            {
                bool isAfter = isEnd || key.SequenceCompareTo(damagedTo.Span) >= 0;
                progress = progress with
                {
                    Skipped = progress.Skipped ?? Encoding.UTF8.GetString(last),
                    SkippedEnd = isEnd ? progress.End : Encoding.UTF8.GetString(id),
                };
                damagedTo = isAfter ? default : damagedTo;
            }

            if (isEnd || (end.Length > 0 && key.SequenceCompareTo(end) >= 0))
            {
                isEnd = true;
                break;
            }

            last = last.Length == id.Length ? last : new byte[id.Length];
            id.CopyTo(last);
            if (ScheduleOperations.LacksRow(reader, documents.Head.Metadata, documents.Etag))
            {
                writer.Add(Key.TextOf(key), documents.Etag);
            }
        }

        progress = isEnd ? progress.EndPass() : progress with { After = Encoding.UTF8.GetString(last) };
        return writer.Count == 0 ? null : writer.Complete();

        void ExtendDamage(DamageEvent damage)
        {
            Span<byte> after = stackalloc byte[Key.MaxBytes];
            bool isOfChunks =
                Key.WritePrefix(after, database.Number, Table.Documents + 1).SequenceCompareTo(damage.FirstKey.Span)
                <= 0;
            var to = isOfChunks ? new byte[1] : damage.ToExclusive; // chunks are those of one skipped document
            damagedTo = to.Span.SequenceCompareTo(damagedTo.Span) > 0 ? to : damagedTo;
        }
    }

    private static ReadOnlySpan<byte> KeyOf(Database database, ReadOnlySpan<byte> id, Span<byte> buffer)
    {
        Key.WritePrefix(buffer, database.Number, Table.Documents);
        return buffer[..(Key.PrefixBytes + DocumentId.ToLower(id, buffer[Key.PrefixBytes..]))];
    }
}
