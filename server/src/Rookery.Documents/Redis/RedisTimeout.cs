using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;

namespace Rookery.Documents.Redis;

/// <summary>Reads the timeouts of blocking commands.</summary>
public static class RedisTimeout
{
    private const double MaxSeconds = 1e9;

    /// <summary>Reads a timeout in seconds.</summary>
    /// <param name="argument">The argument.</param>
    /// <param name="timeout">The timeout; null if the argument is 0: to wait without limit.</param>
    /// <param name="problem">The error for the client if the argument is no timeout.</param>
    public static bool TryRead(
        ReadOnlySpan<byte> argument,
        out TimeSpan? timeout,
        [NotNullWhen(false)] out string? problem
    )
    {
        timeout = null;
        problem =
            !Utf8Parser.TryParse(argument, out double seconds, out int length) || length != argument.Length
                ? "ERR timeout is not a float or out of range"
            : seconds < 0 ? "ERR timeout is negative"
            : !(seconds <= MaxSeconds) ? "ERR timeout is out of range"
            : null;
        if (problem is not null)
        {
            return false;
        }

        timeout = seconds == 0 ? null : TimeSpan.FromSeconds(seconds);
        return true;
    }
}
