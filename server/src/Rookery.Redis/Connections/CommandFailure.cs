using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Documents.Stored;
using Rookery.Redis.Protocol;
using Rookery.Storage;

namespace Rookery.Redis.Connections;

/// <summary>Failures of commands that are answered with an error, after which the connection continues.</summary>
internal static class CommandFailure
{
    /// <summary>
    /// Returns whether a failure is answered with its message. Other failures are the server's own faults.
    /// </summary>
    public static bool IsAnswered(Exception failure) =>
        failure
            is DamagedException
                or StoredDocumentException
                or DatabaseGoneException
                or SnapshotEndedException
                or RedisLimitException
                or OutOfMemoryException
                or ReplyMemoryException;

    /// <summary>Returns code and sentence.</summary>
    public static string ErrorOf(Exception failure) =>
        $"{(failure is OutOfMemoryException or ReplyMemoryException ? "OOM" : "ERR")} {failure.Message}";
}
