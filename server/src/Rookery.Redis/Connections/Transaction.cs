using Rookery.Documents.Redis;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Connections;

/// <summary>The commands between MULTI and EXEC of one connection.</summary>
/// <param name="maxBytes">Most memory of the commands in bytes.</param>
/// <param name="memory">Memory that the connection holds.</param>
internal sealed class Transaction(int maxBytes, HeldMemory memory) : IDisposable
{
    private readonly List<StoredCommand> _commands = [];
    private int _bytes;

    /// <summary>The commands, in order.</summary>
    public IReadOnlyList<StoredCommand> Commands => _commands;

    /// <summary>Whether a command was refused, so that EXEC executes none.</summary>
    public bool HasFailed { get; set; }

    /// <summary>Adds a command.</summary>
    /// <returns>The error if it cannot be added; null if it was.</returns>
    public string? Add(RedisCommandInfo info, RedisArguments arguments)
    {
        int cost = StoredCommand.CostOf(arguments);
        if (_bytes + cost > maxBytes)
        {
            return $"ERR The transaction is larger than {maxBytes} bytes; it is discarded.";
        }

        if (!memory.TryAdd(cost))
        {
            return ReplyBuffer.NoMemory;
        }

        _bytes += cost;
        _commands.Add(new StoredCommand(info, arguments));
        return null;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        memory.Remove(_bytes);
        _bytes = 0;
    }
}
