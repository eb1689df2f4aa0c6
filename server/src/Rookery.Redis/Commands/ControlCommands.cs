using System.Collections.Frozen;
using Rookery.Documents.Redis;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Commands;

/// <summary>Executes a command that is no data command, and appends its replies.</summary>
/// <param name="connection">The connection.</param>
/// <param name="command">The command.</param>
/// <param name="arguments">Its arguments, valid until the method returns.</param>
internal delegate ValueTask ControlHandler(
    RedisConnection connection,
    RedisCommandInfo command,
    RedisArguments arguments
);

/// <summary>The commands that the connection serves.</summary>
internal static class ControlCommands
{
    private static readonly FrozenDictionary<string, ControlHandler> Handlers = new Dictionary<string, ControlHandler>(
        StringComparer.Ordinal
    )
    {
        ["auth"] = ConnectionCommands.AuthenticateAsync,
        ["blpop"] = BlockingCommands.PopAsync,
        ["brpop"] = BlockingCommands.PopAsync,
        ["client"] = AtOnce(ClientCommands.Run),
        ["command"] = AtOnce(CommandCommands.Run),
        ["config"] = AtOnce(ConfigCommands.Run),
        ["discard"] = AtOnce(TransactionCommands.Discard),
        ["echo"] = AtOnce(ConnectionCommands.Echo),
        ["exec"] = TransactionCommands.ExecuteAsync,
        ["hello"] = ConnectionCommands.HelloAsync,
        ["info"] = AtOnce(InfoCommands.Run),
        ["multi"] = AtOnce(TransactionCommands.Begin),
        ["ping"] = AtOnce(ConnectionCommands.Ping),
        ["psubscribe"] = PubSubCommands.SubscribeToPatternsAsync,
        ["publish"] = AtOnce(PubSubCommands.Publish),
        ["pubsub"] = AtOnce(PubSubCommands.Inspect),
        ["punsubscribe"] = PubSubCommands.UnsubscribeFromPatternsAsync,
        ["quit"] = AtOnce(ConnectionCommands.Quit),
        ["reset"] = AtOnce(ConnectionCommands.Reset),
        ["role"] = AtOnce(InfoCommands.Role),
        ["select"] = AtOnce(ConnectionCommands.Select),
        ["subscribe"] = PubSubCommands.SubscribeAsync,
        ["time"] = AtOnce(InfoCommands.Time),
        ["unsubscribe"] = PubSubCommands.UnsubscribeAsync,
        ["unwatch"] = AtOnce(TransactionCommands.Unwatch),
        ["wait"] = AtOnce(InfoCommands.Wait),
        ["waitaof"] = AtOnce(InfoCommands.WaitForDisk),
        ["watch"] = TransactionCommands.WatchAsync,
        ["xinfo"] = StreamCommands.InspectAsync,
        ["xlen"] = StreamCommands.CountAsync,
        ["xrange"] = StreamCommands.ReadRangeAsync,
        ["xread"] = StreamCommands.ReadAsync,
    }.ToFrozenDictionary(StringComparer.Ordinal);

    private delegate void ImmediateHandler(
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    );

    /// <summary>Returns the handler of a command; null if the connection does not serve it.</summary>
    public static ControlHandler? Find(string name) => Handlers.GetValueOrDefault(name);

    /// <summary>
    /// Runs a handler. After a failure that <see cref="CommandFailure"/> answers, an error replaces its replies.
    /// </summary>
    public static ValueTask RunAsync(
        ControlHandler handler,
        RedisConnection connection,
        RedisCommandInfo command,
        RedisArguments arguments
    )
    {
        var before = connection.Replies.Mark;
        try
        {
            var running = handler(connection, command, arguments);
            return running.IsCompletedSuccessfully ? running : FinishAsync(running, connection, before);
        }
        catch (Exception failure) when (CommandFailure.IsAnswered(failure))
        {
            Refuse(connection, before, failure);
            return ValueTask.CompletedTask;
        }
    }

    private static async ValueTask FinishAsync(ValueTask running, RedisConnection connection, ReplyMark before)
    {
        try
        {
            await running;
        }
        catch (Exception failure) when (CommandFailure.IsAnswered(failure))
        {
            Refuse(connection, before, failure);
        }
    }

    private static void Refuse(RedisConnection connection, ReplyMark before, Exception failure)
    {
        connection.Replies.ReturnTo(before);
        connection.Fail(CommandFailure.ErrorOf(failure));
    }

    private static ControlHandler AtOnce(ImmediateHandler handler) =>
        (connection, command, arguments) =>
        {
            handler(connection, command, arguments);
            return ValueTask.CompletedTask;
        };
}
