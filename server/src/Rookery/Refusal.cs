using Rookery.Documents;
using Rookery.Journal;

namespace Rookery;

/// <summary>How a command that works on directories says that it could not: one sentence on stderr and an exit code.</summary>
internal static class Refusal
{
    /// <summary>Runs <paramref name="work"/> and turns its failure into sentence and code.</summary>
    public static async Task<int> GuardAsync(Func<Task<int>> work)
    {
        try
        {
            return await work();
        }
        catch (Exception refused) when (refused is DirectoryNotEmptyException or DataDirectoryInUseException or ForeignJournalException)
        {
            return await WriteAsync(refused.Message, ExitCode.Configuration);
        }
        catch (IOException failure)
        {
            return await WriteAsync(failure.Message, ExitCode.Failure);
        }
    }

    /// <summary>Writes the sentence.</summary>
    public static async Task<int> WriteAsync(string sentence, int code)
    {
        await Console.Error.WriteLineAsync(sentence);
        return code;
    }
}
