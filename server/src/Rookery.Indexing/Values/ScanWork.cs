using System.Buffers;
using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Values;

/// <summary>Checks the time limit during a scan.</summary>
public interface IWorkLimits
{
    /// <summary>Called at least once for each MiB of JSON that is scanned. May block, to let other work run.</summary>
    /// <exception cref="Exception">The time limit is exceeded. The implementation determines the type of
    /// exception.</exception>
    void CheckLimits();
}

/// <summary>Buffers and work meter for scanning documents one by one. Not thread-safe.</summary>
/// <param name="limits">Called as the work proceeds.</param>
public sealed class ScanWork(IWorkLimits limits)
{
    private const int StepBytes = 1024 * 1024;

    private readonly PooledBytes _text = new();
    private readonly PooledBytes _folded = new();
    private char[] _characters = [];
    private long _bytesSinceCheck;

    /// <summary>
    /// Flags that conditions use, one bit for each wanted term. <see cref="ClearFlags"/> makes room for them.
    /// </summary>
    public ulong[] Flags { get; private set; } = [];

    /// <summary>Counts work before it is done, and checks the limits after each MiB.</summary>
    /// <param name="bytes">Bytes of JSON to scan.</param>
    public void CountBytes(int bytes)
    {
        _bytesSinceCheck += bytes + 64; // reading an empty document takes time, too
        if (_bytesSinceCheck >= StepBytes)
        {
            _bytesSinceCheck = 0;
            limits.CheckLimits();
        }
    }

    /// <summary>Counts work proportional to the product of two lengths.</summary>
    /// <param name="bytes">Bytes to scan.</param>
    /// <param name="times">Steps for each byte.</param>
    public void CountBytes(int bytes, int times) => CountBytes((int)Math.Min((long)bytes * times, StepBytes));

    /// <summary>Clears a number of flags. Enlarges the array if needed.</summary>
    public void ClearFlags(int count)
    {
        int words = (count + 63) / 64;
        if (Flags.Length < words)
        {
            Flags = new ulong[words];
        }

        Flags.AsSpan(0, words).Clear();
    }

    /// <summary>
    /// Returns the content of a JSON string as conditions compare it: lower-cased, with dates in UTC; or unchanged.
    /// </summary>
    /// <param name="json">The string with its quotes.</param>
    /// <param name="isExact">Whether to return the content unchanged, apart from JSON escapes.</param>
    /// <returns>The text, valid until the next call.</returns>
    public ReadOnlySpan<byte> TextOf(ReadOnlySpan<byte> json, bool isExact)
    {
        ReadOnlySpan<byte> raw = json[1..^1];
        if (raw.Contains((byte)'\\'))
        {
            _text.Clear();
            _text.Advance(JsonText.Unescape(raw, _text.Reserve(raw.Length)));
            raw = _text.Written;
        }

        if (isExact)
        {
            _folded.Clear();
            _folded.Append(raw);
            return _folded.Written;
        }

        return Fold(raw);
    }

    /// <summary>Returns a text as UTF-16.</summary>
    /// <returns>The text, valid until the next call.</returns>
    public ReadOnlySpan<char> CharactersOf(ReadOnlySpan<byte> utf8)
    {
        if (_characters.Length < utf8.Length)
        {
            ArrayPool<char>.Shared.Return(_characters);
            _characters = ArrayPool<char>.Shared.Rent(utf8.Length);
        }

        return _characters.AsSpan(0, Encoding.UTF8.GetChars(utf8, _characters));
    }

    /// <summary>Releases the buffers.</summary>
    public void Release()
    {
        _text.Release();
        _folded.Release();
        ArrayPool<char>.Shared.Return(_characters);
        _characters = [];
    }

    private ReadOnlySpan<byte> Fold(ReadOnlySpan<byte> raw)
    {
        _folded.Clear();
        Span<byte> room = _folded.Reserve(Math.Max(TextFolding.MaxBytes(raw.Length), WireDate.Length));
        _folded.Advance(DateText.TryWrite(raw, room) ? DateText.Length : TextFolding.FoldAll(raw, room));
        return _folded.Written;
    }
}
