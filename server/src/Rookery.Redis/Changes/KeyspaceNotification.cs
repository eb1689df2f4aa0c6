namespace Rookery.Redis.Changes;

/// <summary>
/// The channels of keyspace notifications. A change does not say which command made it, so there are two events: set,
/// and del.
/// </summary>
internal static class KeyspaceNotification
{
    /// <summary>The beginning of a channel's name; the key follows. The message is the event.</summary>
    public static ReadOnlySpan<byte> KeyPrefix => "__keyspace@0__:"u8;

    /// <summary>The channel of the keys that are set.</summary>
    public static ReadOnlySpan<byte> SetChannel => "__keyevent@0__:set"u8;

    /// <summary>The channel of the keys that are deleted.</summary>
    public static ReadOnlySpan<byte> DeleteChannel => "__keyevent@0__:del"u8;

    /// <summary>Returns whether a subscriber of a channel or pattern may receive notifications.</summary>
    public static bool MayReach(ReadOnlySpan<byte> name, bool isPattern)
    {
        int wild = isPattern ? name.IndexOfAny("*?[\\"u8) : -1;
        var literal = wild < 0 ? name : name[..wild];
        return literal.StartsWith(KeyPrefix)
            || IsNamed(literal, SetChannel, wild >= 0)
            || IsNamed(literal, DeleteChannel, wild >= 0)
            || (wild >= 0 && KeyPrefix.StartsWith(literal));
    }

    private static bool IsNamed(ReadOnlySpan<byte> literal, ReadOnlySpan<byte> channel, bool isBeginning) =>
        isBeginning ? channel.StartsWith(literal) : channel.SequenceEqual(literal);
}
