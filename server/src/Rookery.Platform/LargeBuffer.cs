using System.Buffers;
using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// Bytes that are too many for the shared pool of arrays, in memory of their own outside the managed heap: there they
/// can neither fragment it nor meet its limit, they grow without being copied, pages that were never written take
/// nothing, and what is given back is gone at once. One owner, who frees it.
/// </summary>
internal sealed unsafe class LargeBuffer(int bytes) : MemoryManager<byte>
{
    private readonly Pages _pages = new(bytes);

    /// <summary>Bytes of all that are mapped.</summary>
    public static long MappedBytes => Volatile.Read(ref Pages.AllBytes);

    /// <summary>Bytes it has room for.</summary>
    public int Length => _pages.Length;

    /// <summary>Makes it longer. Spans and memory from before are not to be used any more.</summary>
    public void Grow(int bytes) => _pages.Resize(bytes);

    public override Span<byte> GetSpan() => new(_pages.Address, _pages.Length);

    public override MemoryHandle Pin(int elementIndex = 0) => new(_pages.Address + elementIndex);

    public override void Unpin()
    {
        // It does not move while it is used.
    }

    /// <summary>Gives the memory back.</summary>
    public void Free() => Dispose(disposing: true);

    protected override void Dispose(bool disposing) => _pages.Dispose();

    /// <summary>
    /// Its pages. A handle, so that those of a buffer whose owner forgot it, because an exception passed by, are given
    /// back some time.
    /// </summary>
    private sealed class Pages : SafeHandle
    {
        public static long AllBytes;

        public Pages(int bytes)
            : base(0, ownsHandle: true)
        {
            SetHandle((nint)NativePages.Map(bytes));
            Length = bytes;
            Interlocked.Add(ref AllBytes, bytes);
        }

        public override bool IsInvalid => handle == 0;

        public int Length { get; private set; }

        public byte* Address => (byte*)handle;

        public void Resize(int bytes)
        {
            SetHandle((nint)NativePages.Resize(Address, Length, bytes));
            Interlocked.Add(ref AllBytes, bytes - Length);
            Length = bytes;
        }

        protected override bool ReleaseHandle()
        {
            NativePages.Unmap(Address, Length);
            Interlocked.Add(ref AllBytes, -Length);
            SetHandle(0);
            Length = 0;
            return true;
        }
    }
}
