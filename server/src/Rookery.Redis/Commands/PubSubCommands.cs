using System.Text;
using Rookery.Documents.Redis;
using Rookery.Redis.Connections;
using Rookery.Redis.Messages;

namespace Rookery.Redis.Commands;

/// <summary>
/// SUBSCRIBE, PSUBSCRIBE, UNSUBSCRIBE, PUNSUBSCRIBE, PUBLISH and PUBSUB. A message reaches the subscribers on all
/// members, at most once.
/// </summary>
internal static class PubSubCommands
{
    public static ValueTask SubscribeAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    ) => SubscribeAsync(connection, ListNames(arguments), isPattern: false);

    public static ValueTask SubscribeToPatternsAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    ) => SubscribeAsync(connection, ListNames(arguments), isPattern: true);

    public static ValueTask UnsubscribeAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    ) => UnsubscribeAsync(connection, ListNames(arguments), isPattern: false);

    public static ValueTask UnsubscribeFromPatternsAsync(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    ) => UnsubscribeAsync(connection, ListNames(arguments), isPattern: true);

    /// <summary>Answers the number of receivers on this node, as a node of Redis Cluster does.</summary>
    public static void Publish(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        // No client can subscribe to a longer name, and each pattern would be compared with it.
        if (arguments[0].Length > Messages.Subscriptions.MaxNameBytes)
        {
            connection.Fail(Messages.Subscriptions.LongName);
            return;
        }

        if (arguments[0].Length + arguments[1].Length > MessageFrame.MaxBytes)
        {
            connection.Fail($"ERR A message and its channel have at most {MessageFrame.MaxBytes} bytes together.");
            return;
        }

        connection.Node.Metrics.CountPublication();
        connection.Node.Relay.Post(arguments[0], arguments[1]);
        connection.Replies.Integer(connection.Node.Channels.Publish(arguments[0], arguments[1]));
    }

    public static void Inspect(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        var (replies, channels) = (connection.Replies, connection.Node.Channels);
        string subcommand = Encoding.Latin1.GetString(arguments[0]).ToUpperInvariant();
        switch (subcommand)
        {
            case "CHANNELS" when arguments.Count <= 2:
                channels.WriteChannels(replies, arguments.Count == 2 ? arguments[1] : "*"u8);
                break;
            case "NUMSUB":
                replies.Map(arguments.Count - 1);
                for (int i = 1; i < arguments.Count; i++)
                {
                    replies.Bulk(arguments[i]);
                    replies.Integer(channels.CountSubscribers(arguments[i]));
                }

                break;
            case "NUMPAT" when arguments.Count == 1:
                replies.Integer(channels.PatternCount);
                break;
            default:
                connection.Fail(
                    $"ERR Unknown subcommand or wrong number of arguments for '{subcommand}'. Served are PUBSUB "
                        + "CHANNELS, NUMSUB and NUMPAT, for the subscribers on this node."
                );
                break;
        }
    }

    // Confirmations are messages, so that they precede the messages of the channel. Earlier replies are sent first.
    private static async ValueTask SubscribeAsync(RedisConnection connection, byte[][] names, bool isPattern)
    {
        if (!await connection.Output.SendAsync(connection.Replies))
        {
            connection.IsEnding = true;
            return;
        }

        connection.Node.Changes.BeginIfWatched(names);
        foreach (byte[] name in names)
        {
            if (connection.Subscriptions.Add(name, isPattern) is { } problem)
            {
                connection.Fail(problem);
                return;
            }
        }
    }

    private static async ValueTask UnsubscribeAsync(RedisConnection connection, byte[][] names, bool isPattern)
    {
        if (!await connection.Output.SendAsync(connection.Replies))
        {
            connection.IsEnding = true;
            return;
        }

        foreach (byte[] name in names)
        {
            connection.Subscriptions.Remove(name, isPattern);
        }

        if (names.Length == 0)
        {
            connection.Subscriptions.RemoveAll(isPattern);
        }
    }

    private static byte[][] ListNames(RedisArguments arguments)
    {
        byte[][] names = new byte[arguments.Count][];
        for (int i = 0; i < names.Length; i++)
        {
            names[i] = arguments[i].ToArray();
        }

        return names;
    }
}
