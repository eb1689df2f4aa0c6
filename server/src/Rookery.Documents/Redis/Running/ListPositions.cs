namespace Rookery.Documents.Redis.Running;

/// <summary>LPOS.</summary>
internal sealed class ListPositions(RedisSession session, ListValue list)
{
    private RedisReply Reply => session.Reply;

    /// <summary>Replies with the positions of an element.</summary>
    public void Run(RedisArguments arguments)
    {
        if (!TryReadOptions(arguments, out var options))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!list.TryLoad(target, out var body))
        {
            return;
        }

        var element = arguments[1];
        bool isBackward = options.Rank < 0;
        long skipped = Math.Abs(options.Rank) - 1;
        long compared = options.Compared == 0 ? list.Count : Math.Min(options.Compared, list.Count);
        long matches = 0;
        for (int i = 0; i < compared; i++)
        {
            matches += list.Read(body, IndexOf(i, isBackward)).SequenceEqual(element) ? 1 : 0;
        }

        long most = options.Count is { } count ? (count == 0 ? long.MaxValue : count) : 1;
        long found = Math.Clamp(matches - skipped, 0, most);
        if (options.Count is not null)
        {
            Reply.Array(found);
        }
        else if (found == 0)
        {
            Reply.Null();
        }

        for (int i = 0; found > 0; i++)
        {
            int index = IndexOf(i, isBackward);
            if (list.Read(body, index).SequenceEqual(element) && skipped-- <= 0)
            {
                Reply.Integer(index);
                found--;
            }
        }
    }

    private int IndexOf(int step, bool isBackward) => isBackward ? list.Count - 1 - step : step;

    private bool TryReadOptions(RedisArguments arguments, out Options options)
    {
        options = new Options(Rank: 1, Count: null, Compared: 0);
        for (int i = 2; i < arguments.Count; i += 2)
        {
            bool hasValue = i + 1 < arguments.Count;
            if (hasValue && RedisNumber.IsWord(arguments[i], "RANK"u8))
            {
                if (!TryReadRank(arguments[i + 1], out long rank))
                {
                    return false;
                }

                options = options with { Rank = rank };
            }
            else if (hasValue && RedisNumber.IsWord(arguments[i], "COUNT"u8))
            {
                if (!TryReadPositive(arguments[i + 1], "ERR COUNT can't be negative"u8, out long count))
                {
                    return false;
                }

                options = options with { Count = count };
            }
            else if (hasValue && RedisNumber.IsWord(arguments[i], "MAXLEN"u8))
            {
                if (!TryReadPositive(arguments[i + 1], "ERR MAXLEN can't be negative"u8, out long compared))
                {
                    return false;
                }

                options = options with { Compared = compared };
            }
            else
            {
                Reply.Error(RedisErrors.Syntax);
                return false;
            }
        }

        return true;
    }

    private bool TryReadRank(ReadOnlySpan<byte> argument, out long rank)
    {
        if (!session.TryReadInteger(argument, out rank))
        {
            return false;
        }

        if (rank == long.MinValue)
        {
            Reply.Error(RedisErrors.OutOfRangeOfCounts);
            return false;
        }

        if (rank == 0)
        {
            Reply.Error(
                "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... "u8
                    + "or use negative to start from the end of the list"u8
            );
            return false;
        }

        return true;
    }

    private bool TryReadPositive(ReadOnlySpan<byte> argument, ReadOnlySpan<byte> problem, out long value)
    {
        if (RedisNumber.TryRead(argument, out value) && value >= 0)
        {
            return true;
        }

        Reply.Error(problem);
        return false;
    }

    /// <summary>The options of the command.</summary>
    /// <param name="Rank">Number of the first match that is wanted, from 1; negative to search from the end.</param>
    /// <param name="Count">Most positions, 0 for all; null to reply with one.</param>
    /// <param name="Compared">Number of elements that are compared; 0 for all.</param>
    private readonly record struct Options(long Rank, long? Count, long Compared);
}
