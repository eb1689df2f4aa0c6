namespace Rookery.Server.FastPath;

/// <summary>Remembers texts for a second, the last one of those with the same slot. Thread-safe.</summary>
internal sealed class RecentTexts(TimeProvider time)
{
    private const int SlotCount = 256;
    private static readonly TimeSpan KeptTime = TimeSpan.FromSeconds(1);

    private readonly Entry?[] _slots = new Entry?[SlotCount];

    /// <summary>Remembers a text from now on.</summary>
    public void Add(string text) => Volatile.Write(ref SlotOf(text), new Entry(text, time.GetTimestamp()));

    /// <summary>Whether a text was added within the last second, and no other of its slot since then.</summary>
    public bool Contains(string text) =>
        Volatile.Read(ref SlotOf(text)) is { } entry
        && string.Equals(entry.Text, text, StringComparison.Ordinal)
        && time.GetElapsedTime(entry.AddedAt) < KeptTime;

    private ref Entry? SlotOf(string text) => ref _slots[(uint)text.GetHashCode(StringComparison.Ordinal) % SlotCount];

    private sealed record Entry(string Text, long AddedAt);
}
