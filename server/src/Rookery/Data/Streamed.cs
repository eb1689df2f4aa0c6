using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Data;

/// <summary>Copies response bodies to an output as they arrive.</summary>
internal static class Streamed
{
    private const int PartBytes = 64 << 10;

    /// <summary>Copies the body of a response.</summary>
    /// <param name="answer">The response.</param>
    /// <param name="address">The node's address, for messages.</param>
    /// <param name="output">The output.</param>
    /// <param name="copied">Called with each copied part; null for none.</param>
    /// <param name="time">The clock; null for the machine's.</param>
    /// <param name="cancellation">Cancels the copy.</param>
    /// <exception cref="AdminException">The connection broke, or the node sent nothing for two minutes.</exception>
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
        while (true)
        {
            int read = await ResponseWait.BoundAsync(
                address,
                time ?? TimeProvider.System,
                token => ReadAsync(input, part, address, token),
                cancellation
            );
            if (read == 0)
            {
                return;
            }

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
        catch (Exception failure) when (failure is HttpRequestException or IOException)
        {
            throw new AdminException(
                $"The connection to {address} broke during its response, which is incomplete. See the node's log.",
                ExitCode.Failure
            );
        }
    }
}
