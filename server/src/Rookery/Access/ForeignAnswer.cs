using System.Text.Json;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Server.Configuration;

namespace Rookery.Access;

/// <summary>
/// Reads answers of a server that may not be a node of this version, for example a router. No such answer may end a
/// command with a stack trace or fill the machine's memory.
/// </summary>
internal static class ForeignAnswer
{
    /// <summary>A header of every answer of a node.</summary>
    public const string VersionHeader = "Raven-Server-Version";

    private const long MinBound = 64 << 20;
    private const long MaxBound = 256 << 20;
    private const int PartBytes = 64 << 10;
    private const int FirstBufferBytes = 1 << 20;

    /// <summary>
    /// The longest answer that is read into memory, in bytes: an eighth of the machine's memory, between 64 MiB and 256
    /// MiB.
    /// </summary>
    /// <remarks><see cref="MemorySize.DefaultBytes"/> is a quarter of the machine's memory.</remarks>
    public static long MaxBytes { get; } = Math.Clamp(MemorySize.DefaultBytes() / 2, MinBound, MaxBound);

    /// <summary>Runs work that reads a node's answers.</summary>
    /// <param name="address">Returns the node's address, for the message.</param>
    /// <param name="work">The work.</param>
    /// <exception cref="AdminException">An answer has another form than expected, or broke off.</exception>
    public static async Task<int> GuardAsync(Func<Uri> address, Func<Task<int>> work)
    {
        try
        {
            return await work();
        }
        catch (Exception failure) when (failure is HttpRequestException or HttpIOException)
        {
            throw new AdminException(
                $"The answer of {address()} broke off before it was complete. Check whether the node runs.",
                ExitCode.Failure
            );
        }
        catch (Exception unexpected)
            when (unexpected
                    is KeyNotFoundException
                        or IndexOutOfRangeException // an element of a shorter list
                        or ArgumentException // a name that is null or occurs twice
                        or OverflowException // a duration beyond the range
                        or JsonException
                        or FormatException
                || unexpected is InvalidOperationException and not ObjectDisposedException
            )
        {
            throw new AdminException(
                $"The server at {address()} is not Rookery, or another version of it: this command cannot read its "
                    + $"answer. Check whether the address is right. If a Rookery of this version runs there, the "
                    + $"command has a fault: report it. ({unexpected.Message})",
                ExitCode.Failure
            );
        }
    }

    /// <summary>
    /// Checks a successful answer that the command copies to its output. Refuses it if no node sent it, or if its end
    /// cannot be distinguished from a broken connection. Otherwise the page of a router would be taken for documents or
    /// for an empty result.
    /// </summary>
    /// <exception cref="AdminException">No node sent it, or it has neither a length nor chunks.</exception>
    public static void RequireStream(HttpResponseMessage answer, Uri address)
    {
        if (!answer.Headers.Contains(VersionHeader))
        {
            throw new AdminException(
                $"The server at {address} is not Rookery. Check whether the address is right.",
                ExitCode.Failure
            );
        }

        if (
            answer.Version.Major < 2
            && answer.Content.Headers.ContentLength is null
            && answer.Headers.TransferEncodingChunked is not true
        )
        {
            throw new AdminException(
                $"The answer of {address} has neither a length nor chunks, so it could break off unseen. Look for a "
                    + "proxy between this machine and the node.",
                ExitCode.Failure
            );
        }
    }

    /// <summary>Reads a whole body into memory.</summary>
    /// <exception cref="AdminException"> The body is longer than <paramref name="maxBytes"/>, or than
    /// <see cref="MaxBytes"/> if <paramref name="maxBytes"/> is null; or no part of it came for
    /// <see cref="ResponseWait.Longest"/>.
    /// </exception>
    /// <exception cref="HttpRequestException">The connection broke.</exception>
    public static async Task<byte[]> ReadAsync(
        HttpContent body,
        Uri address,
        CancellationToken cancellation,
        long? maxBytes = null,
        TimeProvider? time = null
    )
    {
        long bound = maxBytes ?? MaxBytes;
        using var received = new MemoryStream((int)Math.Min(body.Headers.ContentLength ?? 0, FirstBufferBytes));
        byte[] part = new byte[PartBytes];
        try
        {
            await using var stream = await body.ReadAsStreamAsync(cancellation);
            while (received.Length <= bound)
            {
                int read = await ResponseWait.BoundAsync(
                    address,
                    time ?? TimeProvider.System,
                    ends => stream.ReadAsync(part, ends).AsTask(),
                    cancellation
                );
                if (read == 0)
                {
                    return received.ToArray();
                }

                received.Write(part, 0, read);
            }
        }
        catch (IOException broken)
        {
            throw new HttpRequestException(broken.Message, broken);
        }

        throw new AdminException(
            $"The answer of {address} is longer than the {bound >> 20} MiB that this command keeps at once. Ask for "
                + "less, or for results one by one (`rookery query --ndjson`, `rookery export`).",
            ExitCode.Failure
        );
    }
}
