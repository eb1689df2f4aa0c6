using System.Buffers.Text;
using System.Globalization;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Redis.Changes;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;
using Rookery.Server.Access;

namespace Rookery.Redis.Commands;

/// <summary>
/// XREAD, XRANGE, XLEN and XINFO STREAM on the stream <c>changes</c>: each document and each deletion in the order of
/// the last change, with its etag as id (<c>ETAG-0</c>). So a client continues after the last id that it has seen.
/// </summary>
internal static class StreamCommands
{
    /// <summary>Most entries of one reply.</summary>
    private const int MaxEntries = 4096;

    private const string OneStream = "ERR There is one stream, 'changes': the changes of all documents, read only.";

    private static ReadOnlySpan<byte> StreamName => "changes"u8;

    public static ValueTask CountAsync(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (!arguments[0].SequenceEqual(StreamName))
        {
            connection.Fail(OneStream);
            return ValueTask.CompletedTask;
        }

        return WithReaderAsync(
            connection,
            static (connection, reader) =>
            {
                var statistics = reader.ReadStatistics();
                connection.Replies.Integer(statistics.Documents + statistics.Tombstones);
            }
        );
    }

    public static ValueTask InspectAsync(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (arguments.Count != 2 || !Ascii.EqualsIgnoreCase(arguments[0], "stream"u8))
        {
            connection.Fail("ERR Served is XINFO STREAM changes.");
            return ValueTask.CompletedTask;
        }

        if (!arguments[1].SequenceEqual(StreamName))
        {
            connection.Fail(OneStream);
            return ValueTask.CompletedTask;
        }

        return WithReaderAsync(
            connection,
            static (connection, reader) =>
            {
                var statistics = reader.ReadStatistics();
                var replies = connection.Replies;
                replies.Map(4);
                replies.Bulk("length"u8);
                replies.Integer(statistics.Documents + statistics.Tombstones);
                replies.Bulk("last-generated-id"u8);
                replies.Bulk(IdOf(statistics.LastEtag));
                replies.Bulk("max-deleted-entry-id"u8);
                replies.Bulk(IdOf(statistics.TombstoneHorizon));
                replies.Bulk("groups"u8);
                replies.Integer(0);
            }
        );
    }

    public static ValueTask ReadRangeAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    )
    {
        int count = MaxEntries;
        bool hasCount = arguments.Count == 5 && Ascii.EqualsIgnoreCase(arguments[3], "count"u8);
        if (!arguments[0].SequenceEqual(StreamName))
        {
            connection.Fail(OneStream);
        }
        else if (arguments.Count != 3 && !hasCount)
        {
            connection.Fail("ERR syntax error");
        }
        else if (hasCount && !TryReadCount(arguments[4], out count))
        {
            connection.Fail($"ERR COUNT must be a whole number up to {MaxEntries}");
        }
        else if (
            !TryReadBound(arguments[1], isStart: true, out long first)
            || !TryReadBound(arguments[2], isStart: false, out long last)
        )
        {
            connection.Fail("ERR Invalid stream ID specified as stream command argument");
        }
        else
        {
            return WithReaderAsync(
                connection,
                (connection, reader) => WriteRange(connection, reader, first, last, count, mustBeWhole: !hasCount)
            );
        }

        return ValueTask.CompletedTask;
    }

    public static ValueTask ReadAsync(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        var request = new ReadRequest();
        if (request.TryRead(arguments) is { } problem)
        {
            connection.Fail(problem);
            return ValueTask.CompletedTask;
        }

        return ReadAsync(connection, request);
    }

    private static async ValueTask ReadAsync(RedisConnection connection, ReadRequest request)
    {
        var time = connection.Node.Context.Time;
        long start = time.GetTimestamp();
        ChangeWaiter? waiter = null;
        try
        {
            while (true)
            {
                waiter?.Reset();
                if (await connection.Data.OpenReaderAsync() is not { } reader)
                {
                    return;
                }

                using (reader)
                {
                    request.After ??= reader.ReadStatistics().LastEtag;
                    if (request.After > reader.Sequence)
                    {
                        connection.Fail(
                            $"ERR The last change has the id {IdOf(reader.Sequence)}, which is before "
                                + $"{IdOf(request.After.Value)}: that id is of another database, or of the time before "
                                + "a restore. Begin again with 0."
                        );
                        return;
                    }

                    if (TryWriteAfter(connection, reader, request.After.Value, request.Count))
                    {
                        return;
                    }
                }

                if (request.Block is not { } block)
                {
                    connection.Replies.NullArray();
                    return;
                }

                if (waiter is null)
                {
                    if (!await connection.Output.SendAsync(connection.Replies))
                    {
                        connection.IsEnding = true;
                        return;
                    }

                    waiter = connection.Node.Changes.Add([]);
                    continue;
                }

                TimeSpan? left = block == TimeSpan.Zero ? null : block - time.GetElapsedTime(start);
                var end = await connection.WaitAsync(waiter, left, "xread", AccessScopes.Read);
                if (end == WaitEnd.TimedOut)
                {
                    connection.Replies.NullArray();
                }

                if (end != WaitEnd.Changed)
                {
                    return;
                }
            }
        }
        finally
        {
            if (waiter is not null)
            {
                connection.Node.Changes.Remove(waiter);
            }
        }
    }

    private static async ValueTask WithReaderAsync(
        RedisConnection connection,
        Action<RedisConnection, DatabaseReader> read
    )
    {
        if (await connection.Data.OpenReaderAsync() is { } reader)
        {
            using (reader)
            {
                read(connection, reader);
            }
        }
    }

    private static bool TryWriteAfter(RedisConnection connection, in DatabaseReader reader, long after, int count)
    {
        var entries = new ReplyBuffer { Version = connection.Replies.Version };
        try
        {
            int written = WriteEntries(entries, reader, after + 1, long.MaxValue, count, connection.ReadsEnd, out _);
            if (written > 0)
            {
                BeginStreams(connection.Replies);
                connection.Replies.Array(written);
                connection.Replies.Append(entries.Written);
            }

            return written > 0;
        }
        finally
        {
            entries.Release();
        }
    }

    private static void BeginStreams(ReplyBuffer replies)
    {
        if (replies.Version == 3)
        {
            replies.Map(1);
        }
        else
        {
            replies.Array(1);
            replies.Array(2);
        }

        replies.Bulk(StreamName);
    }

    private static void WriteRange(
        RedisConnection connection,
        in DatabaseReader reader,
        long first,
        long last,
        int count,
        bool mustBeWhole
    )
    {
        var entries = new ReplyBuffer { Version = connection.Replies.Version };
        try
        {
            int written = WriteEntries(entries, reader, first, last, count, connection.ReadsEnd, out bool isMore);
            if (isMore && mustBeWhole)
            {
                connection.Fail(
                    $"ERR The range has more than {MaxEntries} entries. Read it in parts: XRANGE changes (ID + COUNT n."
                );
            }
            else
            {
                connection.Replies.Array(written);
                connection.Replies.Append(entries.Written);
            }
        }
        finally
        {
            entries.Release();
        }
    }

    private static int WriteEntries(
        ReplyBuffer entries,
        in DatabaseReader reader,
        long first,
        long last,
        int count,
        CancellationToken ended,
        out bool isMore
    )
    {
        int written = 0;
        isMore = false;
        using var changes = reader.SeekChanges(first - 1);
        while (changes.MoveNext())
        {
            if (changes.Etag > last)
            {
                break;
            }

            ended.ThrowIfCancellationRequested();
            if (changes is { IsTombstone: true, Tombstone.Moved: true })
            {
                continue; // the document itself follows, with the same etag
            }

            if (written == count)
            {
                isMore = true;
                break;
            }

            WriteEntry(entries, changes, reader.Database);
            written++;
        }

        return written;
    }

    private static void WriteEntry(ReplyBuffer entries, ChangeCursor change, Database database)
    {
        entries.Array(2);
        entries.Bulk(IdOf(change.Etag));
        entries.Array(8);
        entries.Bulk("event"u8);
        entries.Bulk(change.IsTombstone ? "del"u8 : "set"u8);
        entries.Bulk("id"u8);
        if (change.IsTombstone)
        {
            entries.Bulk(change.Tombstone.Id);
        }
        else
        {
            entries.Bulk(change.View.Id);
        }

        entries.Bulk("collection"u8);
        if (change.IsTombstone)
        {
            entries.Bulk(change.Tombstone.Collection);
        }
        else
        {
            entries.Bulk(change.View.Collection);
        }

        entries.Bulk("change-vector"u8);
        entries.Bulk(database.ChangeVectorOf(change.Etag));
    }

    private static string IdOf(long etag) => string.Create(CultureInfo.InvariantCulture, $"{etag}-0");

    private static bool TryReadCount(ReadOnlySpan<byte> text, out int count) =>
        Utf8Parser.TryParse(text, out count, out int length)
        && length == text.Length
        && count is >= 0 and <= MaxEntries;

    // Bounds as XRANGE has them: - and +, "(" before an id that is not included.
    private static bool TryReadBound(ReadOnlySpan<byte> text, bool isStart, out long etag)
    {
        if (text.SequenceEqual("-"u8) || text.SequenceEqual("+"u8))
        {
            etag = text[0] == (byte)'-' ? 0 : long.MaxValue;
            return true;
        }

        bool isExclusive = text.StartsWith("("u8);
        if (!TryReadId(isExclusive ? text[1..] : text, out etag, out bool hasSequence))
        {
            return false;
        }

        etag +=
            isStart && (isExclusive || hasSequence) ? 1
            : !isStart && isExclusive && !hasSequence ? -1
            : 0;
        return true;
    }

    // The sequence of all ids is 0, so an id with a higher one lies after the entry.
    private static bool TryReadId(ReadOnlySpan<byte> text, out long etag, out bool isAfter)
    {
        isAfter = false;
        if (!Utf8Parser.TryParse(text, out etag, out int length) || etag is < 0 or long.MaxValue)
        {
            return false;
        }

        var rest = text[length..];
        if (rest.IsEmpty)
        {
            return true;
        }

        bool isNumber =
            rest[0] == (byte)'-'
            && Utf8Parser.TryParse(rest[1..], out ulong sequence, out int digits)
            && digits == rest.Length - 1
            && SetAfter(sequence, out isAfter);
        return isNumber;
    }

    private static bool SetAfter(ulong sequence, out bool isAfter)
    {
        isAfter = sequence > 0;
        return true;
    }

    /// <summary>The options of XREAD.</summary>
    private sealed class ReadRequest
    {
        public int Count { get; private set; } = MaxEntries;

        /// <summary>How long to wait for an entry, zero for ever; null to not wait.</summary>
        public TimeSpan? Block { get; private set; }

        /// <summary>The etag after which to begin; null for the last one now.</summary>
        public long? After { get; set; }

        /// <summary>Reads the options; returns the error for the client, or null.</summary>
        public string? TryRead(RedisArguments arguments)
        {
            int i = 0;
            while (i + 1 < arguments.Count && !Ascii.EqualsIgnoreCase(arguments[i], "streams"u8))
            {
                if (Ascii.EqualsIgnoreCase(arguments[i], "count"u8))
                {
                    if (!TryReadCount(arguments[i + 1], out int count))
                    {
                        return $"ERR COUNT must be a whole number up to {MaxEntries}";
                    }

                    Count = count == 0 ? MaxEntries : count;
                }
                else if (Ascii.EqualsIgnoreCase(arguments[i], "block"u8))
                {
                    if (
                        !Utf8Parser.TryParse(arguments[i + 1], out int milliseconds, out int length)
                        || length != arguments[i + 1].Length
                    )
                    {
                        return "ERR timeout is not an integer or out of range";
                    }

                    if (milliseconds < 0)
                    {
                        return "ERR timeout is negative";
                    }

                    Block = TimeSpan.FromMilliseconds(milliseconds);
                }
                else
                {
                    return "ERR syntax error";
                }

                i += 2;
            }

            if (i + 3 != arguments.Count)
            {
                return i + 3 < arguments.Count ? OneStream : "ERR syntax error";
            }

            if (!arguments[i + 1].SequenceEqual(StreamName))
            {
                return OneStream;
            }

            if (arguments[i + 2].SequenceEqual("$"u8))
            {
                return null;
            }

            if (!TryReadId(arguments[i + 2], out long after, out _))
            {
                return "ERR Invalid stream ID specified as stream command argument";
            }

            After = after;
            return null;
        }
    }
}
