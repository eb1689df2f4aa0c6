using System.Buffers.Text;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Redis.Changes;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Commands;

/// <summary>
/// BLPOP and BRPOP: a snapshot shows whether a list has elements; then LPOP or RPOP goes through the log. Another
/// client may take the element before, so the command then waits on.
/// </summary>
internal static class BlockingCommands
{
    private const double MaxSeconds = 1e9;

    private static readonly RedisCommandInfo ListLength = Find("llen"u8);
    private static readonly RedisCommandInfo PopFirst = Find("lpop"u8);
    private static readonly RedisCommandInfo PopLast = Find("rpop"u8);

    public static ValueTask PopFirstAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    ) => PopAsync(connection, PopFirst, arguments);

    public static ValueTask PopLastAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    ) => PopAsync(connection, PopLast, arguments);

    private static ValueTask PopAsync(RedisConnection connection, RedisCommandInfo pop, RedisArguments arguments)
    {
        var last = arguments[arguments.Count - 1];
        if (!Utf8Parser.TryParse(last, out double seconds, out int length) || length != last.Length)
        {
            connection.Fail("ERR timeout is not a float or out of range");
            return ValueTask.CompletedTask;
        }

        if (seconds < 0)
        {
            connection.Fail("ERR timeout is negative");
            return ValueTask.CompletedTask;
        }

        if (!(seconds <= MaxSeconds))
        {
            connection.Fail("ERR timeout is out of range");
            return ValueTask.CompletedTask;
        }

        var keys = new List<(byte[] Key, string Id)>();
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        for (int i = 0; i < arguments.Count - 1; i++)
        {
            if (!RedisKey.TryWriteId(arguments[i], id, out int idLength))
            {
                connection.Fail($"ERR The id of a key has at most {RedisKey.MaxIdBytes} bytes.");
                return ValueTask.CompletedTask;
            }

            keys.Add((arguments[i].ToArray(), Encoding.UTF8.GetString(id[..idLength])));
        }

        return PopAsync(connection, pop, keys, seconds == 0 ? null : TimeSpan.FromSeconds(seconds));
    }

    private static async ValueTask PopAsync(
        RedisConnection connection,
        RedisCommandInfo pop,
        List<(byte[] Key, string Id)> keys,
        TimeSpan? timeout
    )
    {
        var time = connection.Node.Context.Time;
        long start = time.GetTimestamp();
        ChangeWaiter? waiter = null;
        try
        {
            while (true)
            {
                waiter?.Reset();
                if (await TryPopAsync(connection, pop, keys))
                {
                    return;
                }

                if (waiter is null)
                {
                    // Looks once more, because a change may have come before the waiter was there.
                    if (!await connection.Output.SendAsync(connection.Replies))
                    {
                        connection.IsEnding = true;
                        return;
                    }

                    waiter = connection.Node.Changes.Add([.. keys.Select(static key => key.Id)]);
                    continue;
                }

                var left = timeout - time.GetElapsedTime(start);
                var end = await connection.WaitAsync(waiter, left, pop.Name, CommandScopes.ReadAndWrite);
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

    // Returns false if all lists are empty.
    private static async ValueTask<bool> TryPopAsync(
        RedisConnection connection,
        RedisCommandInfo pop,
        List<(byte[] Key, string Id)> keys
    )
    {
        for (int i = 0; i < keys.Count; i++)
        {
            if (await connection.Data.OpenReaderAsync() is not { } reader)
            {
                return true;
            }

            uint database;
            using (reader)
            {
                database = reader.Database.Number;
                i = FindFilled(connection, reader, keys, i);
            }

            if (i == keys.Count)
            {
                return false;
            }

            if (await TryPopAsync(connection, database, pop, keys[i].Key))
            {
                return true;
            }
        }

        return false;
    }

    // A key of another type counts as filled, so that the pop answers with the error.
    private static int FindFilled(
        RedisConnection connection,
        in DatabaseReader reader,
        List<(byte[] Key, string Id)> keys,
        int from
    )
    {
        var length = new ReplyBuffer { Version = 3 };
        int i = from;
        for (; i < keys.Count; i++)
        {
            length.Clear();
            RedisReader.Execute(
                reader,
                connection.Node.Consensus.Time,
                ListLength,
                new RedisArguments(keys[i].Key, [new RedisSlice(0, keys[i].Key.Length)]),
                length,
                connection.Ended
            );
            if (!length.Written.SequenceEqual(":0\r\n"u8))
            {
                break;
            }
        }

        length.Release();
        return i;
    }

    private static async ValueTask<bool> TryPopAsync(
        RedisConnection connection,
        uint database,
        RedisCommandInfo pop,
        byte[] key
    )
    {
        using var writer = new RedisCommandWriter(database);
        writer.Append(pop, new RedisArguments(key, [new RedisSlice(0, key.Length)]));
        if (await connection.Data.ProposeAsync(writer) is not { } outcome)
        {
            return true;
        }

        try
        {
            foreach (var reply in new RedisOutcome(outcome))
            {
                if (reply[0] == (byte)'_')
                {
                    return false;
                }

                if (reply[0] != (byte)'-')
                {
                    connection.Replies.Array(2);
                    connection.Replies.Bulk(key);
                }

                connection.Data.AppendReply(reply, isNullArray: false);
            }

            return true;
        }
        finally
        {
            RedisOutcome.Release(outcome);
        }
    }

    private static RedisCommandInfo Find(ReadOnlySpan<byte> name) =>
        RedisCommandTable.TryFind(name, out var command)
            ? command
            : throw new InvalidOperationException("The table of commands lacks a command of lists.");
}
