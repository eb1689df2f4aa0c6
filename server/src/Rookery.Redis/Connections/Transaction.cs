using Rookery.Documents.Redis;

namespace Rookery.Redis.Connections;

/// <summary>The commands between MULTI and EXEC of one connection.</summary>
/// <param name="maxBytes">Most memory of the commands in bytes.</param>
internal sealed class Transaction(int maxBytes)
{
    private readonly List<StoredCommand> _commands = [];
    private int _bytes;

    /// <summary>The commands, in order.</summary>
    public IReadOnlyList<StoredCommand> Commands => _commands;

    /// <summary>Whether a command was refused, so that EXEC executes none.</summary>
    public bool HasFailed { get; set; }

    /// <summary>Adds a command; returns false if there are too many.</summary>
    public bool TryAdd(RedisCommandInfo info, RedisArguments arguments)
    {
        int cost = StoredCommand.CostOf(arguments);
        if (_bytes + cost > maxBytes)
        {
            return false;
        }

        _bytes += cost;
        _commands.Add(new StoredCommand(info, arguments));
        return true;
    }
}
