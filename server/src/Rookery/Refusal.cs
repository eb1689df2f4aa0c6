using Rookery.Access;
using Rookery.Cluster.Identity;
using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery;

/// <summary>How a command says that it could not: one sentence on stderr and an exit code.</summary>
internal static class Refusal
{
    /// <summary>Runs <paramref name="work"/> and turns its failure into sentence and code.</summary>
    public static async Task<int> GuardAsync(Func<Task<int>> work)
    {
        try
        {
            return await work();
        }
        catch (AdminException refused)
        {
            return await WriteAsync(refused.Message, refused.Code);
        }
        catch (OutputClosedException)
        {
            // Not a failure that anybody wants to be told of.
            return ExitCode.OutputClosed;
        }
        catch (UnauthorizedAccessException refused)
        {
            return await WriteAsync(refused.Message, ExitCode.Configuration);
        }
        catch (IOException failure)
        {
            return await WriteAsync(
                failure.Message,
                IsOfConfiguration(failure) ? ExitCode.Configuration : ExitCode.Failure
            );
        }
    }

    /// <summary>Writes the sentence.</summary>
    public static async Task<int> WriteAsync(string sentence, int code)
    {
        await Console.Error.WriteLineAsync(sentence);
        return code;
    }

    /// <summary>
    /// Whether another path, or another user, is what helps. A card that rots or dies is none of it: the kernel makes
    /// its file system read-only.
    /// </summary>
    private static bool IsOfConfiguration(IOException failure) =>
        failure
            is DirectoryNotEmptyException
                or DataDirectoryInUseException
                or ForeignJournalException
                or DataFormatException { IsOfDirectory: true }
                or IdentityException
                or DiskException
                {
                    Error: Errno.NoEntry
                        or Errno.NotDirectory
                        or Errno.IsDirectory
                        or Errno.Exists
                        or Errno.AccessDenied
                        or Errno.NotPermitted
                };
}
