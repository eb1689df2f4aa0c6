using System.Buffers;
using Rookery.Documents.Commands;

namespace Rookery.Documents.Redis.Running;

/// <summary>
/// Runs data commands of Redis on documents. The result depends only on the documents, the time and the command. Not
/// thread-safe.
/// </summary>
internal sealed class RedisInterpreter : IDisposable
{
    private readonly StringCommands _strings;
    private readonly KeyCommands _keys;
    private readonly HashCommands _hashes;
    private readonly SetCommands _sets;
    private readonly ListCommands _lists;
    private readonly JsonCommands _json;

    /// <summary>Creates an interpreter.</summary>
    public RedisInterpreter()
    {
        _strings = new StringCommands(Session);
        _keys = new KeyCommands(Session);
        _hashes = new HashCommands(Session);
        _sets = new SetCommands(Session, new RedisArray());
        _lists = new ListCommands(Session, new ListValue(Session));
        _json = new JsonCommands(Session);
    }

    /// <summary>What the commands share.</summary>
    public RedisSession Session { get; } = new();

    /// <summary>Runs a command and writes its reply.</summary>
    /// <param name="store">The documents.</param>
    /// <param name="opcode">The command.</param>
    /// <param name="arguments">The arguments without the name.</param>
    /// <param name="output">Receives exactly one reply.</param>
    /// <exception cref="CommandFormatException">The opcode is unknown: a newer version wrote the command.</exception>
    public void Run(RedisStore store, RedisOpcode opcode, RedisArguments arguments, IBufferWriter<byte> output)
    {
        Session.Store = store;
        Session.Reply.Output = output;
        try
        {
            Run(opcode, arguments);
        }
        finally
        {
            // Each thread has an interpreter, and would keep the memory of its largest document.
            Session.Trim();
            _json.Trim();
            _lists.Trim();
            _sets.Trim();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _json.Dispose();
        _sets.Release();
        Session.Dispose();
    }

    private void Run(RedisOpcode opcode, RedisArguments arguments)
    {
        if (RedisCommandTable.Find(opcode) is not { } command)
        {
            throw new CommandFormatException(
                $"Command {(byte)opcode} of Redis is not known to this version of Rookery."
            );
        }

        Session.CommandName = command.Name;
        if (!command.Accepts(arguments.Count))
        {
            Session.Reply.Error($"ERR wrong number of arguments for '{command.Name}' command");
        }
        else if (!HasShortKeys(command, arguments))
        {
            Session.Reply.Error(
                $"ERR a key is too long: as an id of a document it takes more than {RedisKey.MaxIdBytes} bytes"
            );
        }
        else if (!TryRun(command.Group, opcode, arguments))
        {
            Session.Reply.Error($"ERR command '{command.Name}' is not served");
        }
    }

    private bool TryRun(RedisCommandGroup group, RedisOpcode opcode, RedisArguments arguments) =>
        group switch
        {
            RedisCommandGroup.String => _strings.TryRun(opcode, arguments),
            RedisCommandGroup.Hash => _hashes.TryRun(opcode, arguments),
            RedisCommandGroup.Set => _sets.TryRun(opcode, arguments),
            RedisCommandGroup.List => _lists.TryRun(opcode, arguments),
            RedisCommandGroup.Json => _json.TryRun(opcode, arguments),
            RedisCommandGroup.Generic or RedisCommandGroup.Server => _keys.TryRun(opcode, arguments),
            _ => false,
        };

    /// <summary>Returns whether the ids of all keys are short enough.</summary>
    internal static bool HasShortKeys(RedisCommandInfo command, RedisArguments arguments)
    {
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        int keys = command.CountKeys(arguments.Count);
        for (int i = 0; i < keys; i++)
        {
            var key = arguments[command.FirstKey - 1 + (i * command.KeyStep)];
            if (!RedisKey.IsSurelyShort(key) && !RedisKey.TryWriteId(key, id, out _))
            {
                return false;
            }
        }

        return true;
    }
}
