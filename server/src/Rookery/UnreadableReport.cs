using Rookery.Documents.Backups;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery;

/// <summary>
/// Reports the contents of attachments that a backup lacks, so that the backup does not look complete. A content is the
/// bytes that attachments with equal bytes share.
/// </summary>
internal static class UnreadableReport
{
    /// <summary>Writes a sentence for each content and the total, if there are any.</summary>
    /// <param name="unreadable">The contents.</param>
    /// <param name="what">What happened to the contents, as the beginning of a sentence.</param>
    /// <returns>The exit code: success without any.</returns>
    public static async Task<int> WriteAsync(UnreadableContents unreadable, string what)
    {
        if (unreadable.Total == 0)
        {
            return ExitCode.Success;
        }

        foreach (string content in unreadable.Named)
        {
            await Console.Error.WriteLineAsync(
                $"{what}: a content of an attachment that the node could not read ({content})."
            );
        }

        long more = unreadable.Total - unreadable.Named.Count;
        await Console.Error.WriteLineAsync(
            $"The node could not read {Amount.Of(unreadable.Total, "content")} of attachments"
                + (more > 0 ? $", of which {more} are not named here. " : ". ")
                + "Reading such an attachment is refused until its file is uploaded again. Use an earlier backup if "
                + "one has them."
        );
        return ExitCode.Failure;
    }
}
