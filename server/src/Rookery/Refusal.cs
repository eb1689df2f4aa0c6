using Rookery.Access;
using Rookery.Cluster.Identity;
using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery;

/// <summary>Reports a command's failure: one message on stderr and an exit code.</summary>
internal static class Refusal
{
    /// <summary>Runs <paramref name="work"/> and turns its exceptions into a message and an exit code.</summary>
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
            // No message: the user ended the reader of the output.
            return ExitCode.OutputClosed;
        }
        catch (UnauthorizedAccessException refused)
        {
            return await WriteAsync(refused.Message, ExitCode.Configuration);
        }
        catch (MissingDatabaseException missing)
        {
            return await WriteAsync(missing.Message, ExitCode.NotFound);
        }
        catch (IOException failure)
        {
            return await WriteAsync(
                failure.Message,
                IsConfigurationFault(failure) ? ExitCode.Configuration : ExitCode.Failure
            );
        }
    }

    /// <summary>Writes the message and returns the exit code.</summary>
    public static async Task<int> WriteAsync(string sentence, int code)
    {
        await Console.Error.WriteLineAsync(sentence);
        return code;
    }

    /// <summary>
    /// Returns whether another path or user would help. Neither helps against a failing card, whose file system the
    /// kernel makes read-only.
    /// </summary>
    private static bool IsConfigurationFault(IOException failure) =>
        failure
            is DirectoryNotEmptyException
                or DataDirectoryInUseException
                or ForeignJournalException
                or DataFormatException { IsConfigurationFault: true }
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
