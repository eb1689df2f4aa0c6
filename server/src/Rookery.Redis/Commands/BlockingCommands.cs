using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Redis.Changes;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Commands;

/// <summary>
/// BLPOP and BRPOP. If a snapshot shows that a list has elements, the command goes through the log. If another client
/// takes them before that, the command continues to wait.
/// </summary>
internal static class BlockingCommands
{
    private static readonly RedisCommandInfo ListLength = RedisCommandTable.TryFind("llen"u8, out var command)
        ? command
        : throw new InvalidOperationException("The table of commands lacks a command of lists.");

    // As many as a connection may watch. Each key costs memory while the client waits, and is read at each wake-up.
    private const int MaxKeys = WatchedKeys.Max;

    public static ValueTask PopAsync(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (!RedisTimeout.TryRead(arguments[arguments.Count - 1], out var timeout, out string? problem))
        {
            connection.Fail(problem);
            return ValueTask.CompletedTask;
        }

        if (arguments.Count - 1 > MaxKeys)
        {
            connection.Fail($"ERR A connection waits for at most {MaxKeys} keys.");
            return ValueTask.CompletedTask;
        }

        string[] ids = new string[arguments.Count - 1];
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        for (int i = 0; i < ids.Length; i++)
        {
            if (!RedisKey.TryWriteId(arguments[i], id, out int idLength))
            {
                connection.Fail($"ERR The id of a key has at most {RedisKey.MaxIdBytes} bytes.");
                return ValueTask.CompletedTask;
            }

            ids[i] = Encoding.UTF8.GetString(id[..idLength]);
        }

        return PopAsync(connection, new StoredCommand(command, arguments), ids, timeout);
    }

    private static async ValueTask PopAsync(
        RedisConnection connection,
        StoredCommand pop,
        string[] ids,
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

                // The first look is a read, and a client that has closed its sending half gets its reply. A client that
                // has left during the wait must not take an element.
                if (await TryPopAsync(connection, pop, waiter is null ? connection.ReadsEnd : connection.Ended))
                {
                    return;
                }

                if (waiter is null)
                {
                    // After the waiter is added, the lists are read once more, because they may have changed before.
                    if (!await connection.Output.SendAsync(connection.Replies))
                    {
                        connection.IsEnding = true;
                        return;
                    }

                    waiter = connection.Node.Changes.Add(ids);
                    continue;
                }

                var left = timeout - time.GetElapsedTime(start);
                var end = await connection.WaitAsync(waiter, left, pop.Info.Name, CommandScopes.ReadAndWrite);
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

    // Returns false if all lists are empty; otherwise the reply is appended.
    private static async ValueTask<bool> TryPopAsync(
        RedisConnection connection,
        StoredCommand pop,
        CancellationToken ended
    )
    {
        if (await connection.Data.OpenReaderAsync() is not { } reader)
        {
            return true;
        }

        uint database;
        using (reader)
        {
            database = reader.Database.Number;
            if (!IsAnyFilled(connection, reader, pop.Arguments, ended))
            {
                return false;
            }
        }

        using var writer = new RedisCommandWriter(database);
        writer.Append(pop.Info, pop.Arguments);
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

                connection.Data.AppendReply(reply, isNullArray: false);
            }

            return true;
        }
        finally
        {
            RedisOutcome.Release(outcome);
        }
    }

    // A key of another type counts as filled, so that the pop answers with the error.
    private static bool IsAnyFilled(
        RedisConnection connection,
        in DatabaseReader reader,
        RedisArguments arguments,
        CancellationToken ended
    )
    {
        var length = new ReplyBuffer { Version = 3 };
        try
        {
            bool isFilled = false;
            for (int i = 0; i < arguments.Count - 1 && !isFilled; i++)
            {
                length.Clear();
                RedisReader.Execute(
                    reader,
                    connection.Node.Consensus.Time,
                    ListLength,
                    new RedisArguments(arguments[i], [new RedisSlice(0, arguments[i].Length)]),
                    length,
                    ended
                );
                isFilled = !length.Written.SequenceEqual(":0\r\n"u8);
            }

            return isFilled;
        }
        finally
        {
            length.Release();
        }
    }
}
