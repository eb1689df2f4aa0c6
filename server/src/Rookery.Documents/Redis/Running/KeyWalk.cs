using System.Globalization;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Redis.Running;

/// <summary>
/// The commands that walk over all keys of a snapshot. SCAN walks in the order of etags, and its cursor is the etag of
/// the last document that it read. So every member understands the cursor, and a key that changes meanwhile is returned
/// again, but none is left out.
/// </summary>
internal sealed class KeyWalk(RedisSession session)
{
    /// <summary>
    /// Documents that one SCAN reads at least, except with TYPE, which also ends at <see cref="MaxBodyBytes"/>. If
    /// clients write more keys between two calls than one call reads, SCAN does not end.
    /// </summary>
    private const int LeastScanned = 512;
    private const int MostScanned = 100_000;

    /// <summary>
    /// Bytes of bodies that one SCAN with TYPE reads, unless one document alone has more. It reads the body of a
    /// document whose metadata does not tell the type.
    /// </summary>
    private const long MaxBodyBytes = 16 << 20;

    private const int RowsPerCheck = 1024;

    private const int BodyBytesPerRow = 1024;

    private RedisReply Reply => session.Reply;

    /// <summary>SCAN.</summary>
    public void Scan(RedisArguments arguments)
    {
        if (!TryReadCursor(arguments[0], out long cursor) || !TryReadOptions(arguments, out var options))
        {
            return;
        }

        Span<byte> key = stackalloc byte[RedisKey.MaxIdBytes];
        session.Built.Clear();
        int found = 0;
        int read = 0;
        long bodyBytes = 0;
        long rowsSinceCheck = 0;
        bool isEnd = true;
        using var documents = session.Reader.SeekByEtag(cursor);
        while (isEnd && documents.MoveNext(out bool isPresent))
        {
            int length = 0;
            bool isWanted =
                isPresent
                && TryReadKey(documents.Head, key, out length)
                && session.IsMatch(options.Pattern, key[..length]);
            long bytes = isWanted ? options.BodyBytesOf(documents) : 0;
            if (bodyBytes > 0 && bodyBytes + bytes > MaxBodyBytes)
            {
                isEnd = false; // the next page begins with this document
                continue;
            }

            bodyBytes += bytes;
            rowsSinceCheck += 1 + (bytes / BodyBytesPerRow);
            if (rowsSinceCheck >= RowsPerCheck)
            {
                rowsSinceCheck = 0;
                session.Cancellation.ThrowIfCancellationRequested();
            }

            cursor = documents.Etag;
            if (isWanted && options.HasTypeOf(documents))
            {
                Append(key[..length]);
                found++;
            }

            isEnd = ++read < options.Count;
        }

        Reply.Array(2);
        Reply.BulkNumber(isEnd ? 0 : cursor);
        Reply.Array(found);
        Reply.Raw(session.Built.Written);
    }

    /// <summary>KEYS.</summary>
    public void ReplyKeys(ReadOnlySpan<byte> pattern)
    {
        Span<byte> key = stackalloc byte[RedisKey.MaxIdBytes];
        session.Built.Clear();
        int found = 0;
        int read = 0;
        using var documents = session.Reader.SeekByIdPrefix(prefix: []);
        while (documents.MoveNext(out bool isPresent))
        {
            if (++read % RowsPerCheck == 0)
            {
                session.Cancellation.ThrowIfCancellationRequested();
            }

            if (isPresent && TryReadKey(documents.Head, key, out int length) && session.IsMatch(pattern, key[..length]))
            {
                Append(key[..length]);
                found++;
                Reply.Limit(session.Built.Length);
            }
        }

        Reply.Array(found);
        Reply.Raw(session.Built.Written);
    }

    /// <summary>RANDOMKEY: the first key after a position that the time chooses.</summary>
    public void ReplyAnyKey()
    {
        Span<byte> key = stackalloc byte[RedisKey.MaxIdBytes];
        var seed = new RedisRandom(session.Store.NowTicks);
        long start = seed.Next(session.Reader.Database.LastEtag + 1);
        foreach (long after in (ReadOnlySpan<long>)[start, 0])
        {
            using var documents = session.Reader.SeekByEtag(after);
            while (documents.MoveNext(out bool isPresent))
            {
                session.Cancellation.ThrowIfCancellationRequested(); // many documents may have no key
                if (isPresent && TryReadKey(documents.Head, key, out int length))
                {
                    Reply.Bulk(key[..length]);
                    return;
                }
            }
        }

        Reply.Null();
    }

    private bool TryReadKey(scoped in DocumentView document, Span<byte> key, out int length)
    {
        length = 0;
        return !session.Store.HasExpired(document.ExpiresAtTicks) && RedisKey.TryReadKey(document.Id, key, out length);
    }

    private void Append(ReadOnlySpan<byte> key)
    {
        session.Built.Append(
            Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"${key.Length}\r\n"))
        );
        session.Built.Append(key);
        session.Built.Append("\r\n"u8);
    }

    private bool TryReadCursor(ReadOnlySpan<byte> argument, out long cursor)
    {
        if (ulong.TryParse(argument, NumberStyles.None, CultureInfo.InvariantCulture, out ulong value))
        {
            cursor = (long)Math.Min(value, long.MaxValue - 1);
            return true;
        }

        cursor = 0;
        Reply.Error(RedisErrors.InvalidCursor);
        return false;
    }

    private bool TryReadOptions(RedisArguments arguments, out Options options)
    {
        options = new Options { Count = LeastScanned, Pattern = "*"u8 };
        for (int i = 1; i < arguments.Count; i += 2)
        {
            if (i + 1 == arguments.Count)
            {
                Reply.Error(RedisErrors.Syntax);
                return false;
            }

            var value = arguments[i + 1];
            if (RedisNumber.IsWord(arguments[i], "COUNT"u8))
            {
                if (!session.TryReadInteger(value, out long count))
                {
                    return false;
                }

                if (count < 1)
                {
                    Reply.Error(RedisErrors.Syntax);
                    return false;
                }

                options.Count = (int)Math.Clamp(count, LeastScanned, MostScanned);
            }
            else if (RedisNumber.IsWord(arguments[i], "MATCH"u8))
            {
                options.Pattern = value;
            }
            else if (RedisNumber.IsWord(arguments[i], "TYPE"u8))
            {
                options.Type = value;
                options.HasType = true;
            }
            else
            {
                Reply.Error(RedisErrors.Syntax);
                return false;
            }
        }

        return true;
    }

    private ref struct Options
    {
        public int Count { get; set; }

        public ReadOnlySpan<byte> Pattern { get; set; }

        public ReadOnlySpan<byte> Type { get; set; }

        public bool HasType { get; set; }

        /// <summary>Bytes of the body that <see cref="HasTypeOf"/> reads.</summary>
        public readonly long BodyBytesOf(DocumentCursor documents) =>
            HasType && !RedisBody.TryReadType(documents.Head, out _) ? documents.Length : 0;

        public readonly bool HasTypeOf(DocumentCursor documents)
        {
            if (!HasType)
            {
                return true;
            }

            if (!RedisBody.TryReadType(documents.Head, out var type))
            {
                type = RedisBody.TypeOf(documents.View);
            }

            return RedisNumber.IsWord(Type, type == RedisType.Json ? "ReJSON-RL"u8 : RedisBody.NameOf(type));
        }
    }
}
