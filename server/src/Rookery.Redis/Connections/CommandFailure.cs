using Rookery.Documents.Databases;
using Rookery.Documents.Redis;
using Rookery.Documents.Stored;
using Rookery.Redis.Protocol;
using Rookery.Storage;

namespace Rookery.Redis.Connections;

/// <summary>Failures of commands that are answered with an error, after which the connection continues.</summary>
internal static class CommandFailure
{
    /// <summary>Whether a failure is no fault of the server's own, so that its message is the answer.</summary>
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
