using System.Text;
using Rookery.Documents.Redis;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Commands;

/// <summary>Decides what a command of a connection does: refuse it, queue it for EXEC, or execute it.</summary>
internal sealed class CommandDispatch(RedisConnection connection)
{
    /// <summary>The error of a client that must authenticate.</summary>
    public const string NotAuthenticated = "NOAUTH Authentication required.";

    private const int MaxShownArguments = 20;
    private const int MaxShownBytes = 128;

    /// <summary>Executes one command. Its reply may follow later, with those of the burst.</summary>
    public ValueTask RunAsync(RequestParser request)
    {
        var arguments = request.Arguments;
        bool isKnown = RedisCommandTable.TryFind(request.Name, out var command);
        if (!isKnown)
        {
            return RefuseAsync(WhyUnknown(request.Name, arguments));
        }

        connection.Node.Metrics.CountCommand(command!.Group);
        connection.LastCommand = command.Name;
        if (WhyRefused(command, arguments) is { } refusal)
        {
            return RefuseAsync(refusal);
        }

        if (connection.Transaction is { } transaction && !TransactionCommands.IsImmediate(command.Name))
        {
            return QueueAsync(transaction, command, arguments);
        }

        return command.Service == RedisService.Data
            ? connection.Data.RunAsync(command, arguments)
            : ControlAsync(command, arguments);
    }

    private async ValueTask RefuseAsync(string error)
    {
        await connection.Data.CommitAsync();
        Refuse(error);
    }

    private void Refuse(string error)
    {
        connection.Node.Metrics.CountError();
        if (connection.Transaction is { } transaction)
        {
            transaction.HasFailed = true;
        }

        var before = connection.Replies.Mark;
        connection.Replies.Error(error);
        ApplyReplyMode(before);
        connection.IsEnding |= error.StartsWith("DENIED", StringComparison.Ordinal);
    }

    // Without pending commands of the log, nothing is copied and nothing waits.
    private ValueTask ControlAsync(RedisCommandInfo command, RedisArguments arguments)
    {
        var handler = ControlCommands.Find(command.Name)!;
        if (!connection.Data.HasPending)
        {
            return RunControl(handler, command, arguments);
        }

        return RunAfterCommitAsync(handler, new StoredCommand(command, arguments));
    }

    private async ValueTask RunAfterCommitAsync(ControlHandler handler, StoredCommand stored)
    {
        await connection.Data.CommitAsync();
        if (!connection.IsEnding)
        {
            await RunControl(handler, stored.Info, stored.Arguments);
        }
    }

    private ValueTask RunControl(ControlHandler handler, RedisCommandInfo command, RedisArguments arguments)
    {
        connection.Data.EndReads();
        var before = connection.Replies.Mark;
        var running = ControlCommands.RunAsync(handler, connection, command, arguments);
        if (!running.IsCompletedSuccessfully)
        {
            return FinishAsync(running, before);
        }

        ApplyReplyMode(before);
        return ValueTask.CompletedTask;
    }

    private async ValueTask FinishAsync(ValueTask running, ReplyMark before)
    {
        await running;
        ApplyReplyMode(before);
    }

    private void ApplyReplyMode(ReplyMark before)
    {
        if (connection.TakeSilence())
        {
            connection.Replies.ReturnTo(before);
        }
    }

    private async ValueTask QueueAsync(string? error)
    {
        await connection.Data.CommitAsync();
        if (error is not null)
        {
            Refuse(error);
            return;
        }

        var before = connection.Replies.Mark;
        connection.Replies.Simple("QUEUED"u8);
        ApplyReplyMode(before);
    }

    private ValueTask QueueAsync(Transaction transaction, RedisCommandInfo command, RedisArguments arguments)
    {
        string? error =
            !command.RunsInLog
            && (
                command.Opcode != RedisOpcode.None
                || (command.Flags & (RedisCommandTraits.NotInTransactions | RedisCommandTraits.Blocking))
                    != RedisCommandTraits.None
                || (command.Flags & RedisCommandTraits.PubSub) != RedisCommandTraits.None
                    && command.Name is not "publish"
            )
                ? $"ERR {command.Name.ToUpperInvariant()} inside MULTI is not allowed"
                : transaction.Add(command, arguments);
        return QueueAsync(error);
    }

    private string? WhyRefused(RedisCommandInfo command, RedisArguments arguments)
    {
        if (WhyNotServed() is { } reason)
        {
            return reason;
        }

        bool isOpen = command.Name is "auth" or "hello" or "quit" or "reset";
        if (!isOpen && !connection.Identity.IsKnown)
        {
            return NotAuthenticated;
        }

        if (command.Opcode == RedisOpcode.None && ControlCommands.Find(command.Name) is null)
        {
            return UnservedCommands.Refuse(command);
        }

        if (!command.Accepts(arguments.Count))
        {
            return $"ERR wrong number of arguments for '{command.Name}' command";
        }

        if (connection.Replies.Version == 2 && connection.Subscriptions.Count > 0 && !IsForSubscribers(command))
        {
            return $"ERR Can't execute '{command.Name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET "
                + "are allowed in this context";
        }

        var needed = CommandScopes.Of(command, arguments);
        return (connection.Identity.Scopes & needed) == needed
            ? null
            : connection.Identity.Refuse(command.Name, needed);
    }

    private string? WhyNotServed()
    {
        var readiness = connection.Node.Context.Readiness;
        if (readiness.Node is not { } node)
        {
            return $"LOADING {readiness.Reason}";
        }

        if (node.Diagnosis is { } diagnosis)
        {
            return $"MISCONF {diagnosis}";
        }

        if (readiness.Reason is { } stopping)
        {
            return $"ERR {stopping}";
        }

        return connection.Node.UsesTls && !connection.Node.Context.HasOwner
            ? "DENIED This node has no owner yet and serves no Redis clients from other machines. Claim it with "
                + "`rookery claim`."
            : null;
    }

    private static bool IsForSubscribers(RedisCommandInfo command) =>
        command.Name is "subscribe" or "psubscribe" or "unsubscribe" or "punsubscribe" or "ping" or "quit" or "reset";

    // The sentence of Redis, which shows the beginning of the arguments.
    private static string WhyUnknown(ReadOnlySpan<byte> name, RedisArguments arguments)
    {
        var shown = new StringBuilder();
        for (int i = 0; i < Math.Min(arguments.Count, MaxShownArguments) && shown.Length < MaxShownBytes; i++)
        {
            var part = arguments[i];
            shown.Append('\'').Append(Text(part[..Math.Min(part.Length, MaxShownBytes - shown.Length)])).Append("' ");
        }

        return $"ERR unknown command '{Text(name[..Math.Min(name.Length, MaxShownBytes)])}', with args beginning with: "
            + shown;
    }

    private static string Text(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);
}
