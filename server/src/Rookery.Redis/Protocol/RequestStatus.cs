namespace Rookery.Redis.Protocol;

/// <summary>What <see cref="RequestParser.Read"/> found.</summary>
internal enum RequestStatus : byte
{
    /// <summary>The rest of the next command has not arrived.</summary>
    Incomplete,

    /// <summary>A whole command.</summary>
    Command,

    /// <summary>A command over the bound; its arguments were skipped.</summary>
    TooLarge,

    /// <summary>A command for which there is no memory; its arguments were skipped.</summary>
    OutOfMemory,

    /// <summary>Bytes that are not of the protocol; where the next command begins is unknown.</summary>
    Broken,
}
