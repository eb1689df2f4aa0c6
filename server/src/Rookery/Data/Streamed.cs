using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Data;

/// <summary>Answers that are passed on as they come.</summary>
internal static class Streamed
{
    private const int PartBytes = 64 << 10;

    /// <summary>Copies an answer's body.</summary>
    /// <param name="answer">The answer.</param>
    /// <param name="address">Who gives it, for messages.</param>
    /// <param name="output">Where to.</param>
    /// <param name="copied">Told of each part.</param>
    /// <param name="time">The clock; null for the machine's.</param>
    /// <param name="cancellation">Ends it.</param>
    /// <exception cref="AdminException">It broke off, or nothing more came.</exception>
    public static async Task CopyAsync(
        HttpResponseMessage answer,
        Uri address,
        Stream output,
        Action<ReadOnlyMemory<byte>>? copied = null,
        TimeProvider? time = null,
        CancellationToken cancellation = default
    )
    {
        byte[] part = new byte[PartBytes];
        await using var input = await answer.Content.ReadAsStreamAsync(cancellation);
        for (
            int read;
            (
                read = await Silence.BoundAsync(
                    address,
                    time ?? TimeProvider.System,
                    ends => ReadAsync(input, part, address, ends),
                    cancellation
                )
            ) > 0;

        )
        {
            await output.WriteAsync(part.AsMemory(0, read), cancellation);
            copied?.Invoke(part.AsMemory(0, read));
        }
    }

    private static async Task<int> ReadAsync(Stream input, byte[] part, Uri address, CancellationToken cancellation)
    {
        try
        {
            return await input.ReadAsync(part, cancellation);
        }
        catch (Exception broken) when (broken is HttpRequestException or IOException)
        {
            throw new AdminException(
                $"The answer of {address} broke off, and is not whole. See the node's log.",
                ExitCode.Failure
            );
        }
    }
}
