namespace Rookery.Documents.Redis;

/// <summary>Properties of a command of Redis, as COMMAND reports them.</summary>
[Flags]
public enum RedisCommandTraits
{
    /// <summary>No flag.</summary>
    None = 0,

    /// <summary>The command may change data.</summary>
    Write = 1,

    /// <summary>The command reads data and changes none.</summary>
    ReadOnly = 2,

    /// <summary>The command may need more space (<c>denyoom</c>).</summary>
    Grows = 4,

    /// <summary>The command may wait.</summary>
    Blocking = 8,

    /// <summary>The command takes constant or logarithmic time.</summary>
    Fast = 16,

    /// <summary>The command administers the server.</summary>
    Administrative = 32,

    /// <summary>The command belongs to publish and subscribe.</summary>
    PubSub = 64,

    /// <summary>The command is refused in a transaction.</summary>
    NotInTransactions = 128,

    /// <summary>Scripts must not use the command.</summary>
    NotInScripts = 256,

    /// <summary>The positions of the keys depend on the arguments.</summary>
    MovableKeys = 512,
}

/// <summary>The group of a command in the documentation of Redis.</summary>
public enum RedisCommandGroup
{
    /// <summary>Keys of any type.</summary>
    Generic,

    /// <summary>Strings.</summary>
    String,

    /// <summary>Hashes.</summary>
    Hash,

    /// <summary>Lists.</summary>
    List,

    /// <summary>Sets.</summary>
    Set,

    /// <summary>JSON documents.</summary>
    Json,

    /// <summary>The connection.</summary>
    Connection,

    /// <summary>Transactions.</summary>
    Transactions,

    /// <summary>Publish and subscribe.</summary>
    PubSub,

    /// <summary>The server.</summary>
    Server,

    /// <summary>Streams.</summary>
    Stream,

    /// <summary>Sorted sets.</summary>
    SortedSet,

    /// <summary>Geographic positions.</summary>
    Geo,

    /// <summary>Bits in strings.</summary>
    Bitmap,

    /// <summary>Estimates of cardinality.</summary>
    HyperLogLog,

    /// <summary>Scripts and functions.</summary>
    Scripting,

    /// <summary>Redis Cluster.</summary>
    Cluster,
}

/// <summary>The part of the program that serves a command.</summary>
public enum RedisService
{
    /// <summary>None: the command is refused by name.</summary>
    None,

    /// <summary>The interpreter of data commands: in the log, or for a read on a snapshot.</summary>
    Data,

    /// <summary>The connection.</summary>
    Connection,
}

/// <summary>A command of Redis.</summary>
/// <param name="Name">The name in small letters.</param>
/// <param name="Group">The group in the documentation.</param>
/// <param name="Arity">Number of arguments with the name; negative for at least so many.</param>
/// <param name="Flags">The properties.</param>
/// <param name="FirstKey">Position of the first key, counted from the name at 0; 0 without keys.</param>
/// <param name="LastKey">Position of the last key; a negative position counts from the end.</param>
/// <param name="KeyStep">Distance between two keys.</param>
/// <param name="Opcode">The opcode of a command that the interpreter runs, otherwise
/// <see cref="RedisOpcode.None"/>.</param>
/// <param name="Service">The part that serves the command.</param>
public sealed record RedisCommandInfo(
    string Name,
    RedisCommandGroup Group,
    int Arity,
    RedisCommandTraits Flags,
    int FirstKey,
    int LastKey,
    int KeyStep,
    RedisOpcode Opcode,
    RedisService Service
)
{
    /// <summary>Creates a data command.</summary>
    internal RedisCommandInfo(
        string name,
        RedisCommandGroup group,
        int arity,
        RedisCommandTraits flags,
        int firstKey,
        int lastKey,
        int keyStep,
        RedisOpcode opcode
    )
        : this(name, group, arity, flags, firstKey, lastKey, keyStep, opcode, RedisService.Data) { }

    /// <summary>Creates a command that is no data command.</summary>
    internal RedisCommandInfo(
        string name,
        RedisCommandGroup group,
        int arity,
        RedisCommandTraits flags,
        int firstKey,
        int lastKey,
        int keyStep,
        RedisService service = RedisService.None
    )
        : this(name, group, arity, flags, firstKey, lastKey, keyStep, RedisOpcode.None, service) { }

    /// <summary>Whether the command may change data, so that it must enter the log.</summary>
    public bool IsWrite => (Flags & RedisCommandTraits.Write) != RedisCommandTraits.None;

    /// <summary>
    /// Whether the log may contain the command. SCAN, KEYS and RANDOMKEY walk over all keys, so they run only on
    /// snapshots, and are refused in transactions.
    /// </summary>
    public bool RunsInLog =>
        Opcode is not (RedisOpcode.None or RedisOpcode.Scan or RedisOpcode.Keys or RedisOpcode.AnyKey);

    /// <summary>Returns whether the number of arguments is right.</summary>
    /// <param name="count">Number of arguments without the name.</param>
    public bool Accepts(int count) => Arity < 0 ? count + 1 >= -Arity : count + 1 == Arity;

    /// <summary>Returns the number of keys among the arguments.</summary>
    /// <param name="count">Number of arguments without the name, which the command accepts.</param>
    public int CountKeys(int count)
    {
        if (FirstKey == 0)
        {
            return 0;
        }

        int last = Math.Min(LastKey < 0 ? count + 1 + LastKey : LastKey, count); // OBJECT HELP has no key
        return last < FirstKey ? 0 : ((last - FirstKey) / KeyStep) + 1;
    }
}
