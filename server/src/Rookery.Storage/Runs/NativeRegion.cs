using Rookery.Platform;

namespace Rookery.Storage.Runs;

/// <summary>A region of <see cref="NativePages"/> with an owner. Page-aligned and zeroed.</summary>
internal sealed unsafe class NativeRegion : IDisposable
{
    public NativeRegion(long bytes)
    {
        Bytes = Math.Max(bytes, 1);
        Address = NativePages.Map(Bytes);
    }

    public byte* Address { get; private set; }

    public long Bytes { get; }

    public Span<byte> Span => SpanOf(offset: 0, (int)Bytes);

    public Span<byte> SpanOf(long offset, int length)
    {
        Invariant.Holds(
            offset >= 0 && length >= 0 && offset + length <= Bytes && Address is not null,
            "native memory is used within its bounds and its life"
        );
        return new Span<byte>(Address + offset, length);
    }

    public void Dispose()
    {
        if (Address is not null)
        {
            NativePages.Unmap(Address, Bytes);
            Address = null;
        }
    }
}
