using System.Buffers;
using System.Runtime.InteropServices;

namespace Rookery.Platform;

/// <summary>
/// A buffer too large for the shared array pool, in memory outside the managed heap. It does not fragment the heap or
/// count towards the heap's limit, grows without copying, and takes no memory for pages that were never written. Its
/// owner frees it, and the memory is released to the system at once.
/// </summary>
internal sealed unsafe class LargeBuffer(int bytes) : MemoryManager<byte>
{
    private readonly Pages _pages = new(bytes);

    /// <summary>Bytes mapped by all buffers.</summary>
    public static long MappedBytes => Volatile.Read(ref Pages.AllBytes);

    /// <summary>The capacity in bytes.</summary>
    public int Length => _pages.Length;

    /// <summary>Grows the buffer. Earlier spans and memory must not be used any more.</summary>
    public void Grow(int bytes) => _pages.Resize(bytes);

    public override Span<byte> GetSpan() => new(_pages.Address, _pages.Length);

    public override MemoryHandle Pin(int elementIndex = 0) => new(_pages.Address + elementIndex);

    public override void Unpin()
    {
        // The memory does not move while in use.
    }

    /// <summary>Releases the memory.</summary>
    public void Free() => Dispose(disposing: true);

    protected override void Dispose(bool disposing) => _pages.Dispose();

    /// <summary>
    /// The mapped pages. A SafeHandle, so that the finalizer releases them if the owner does not free the buffer after
    /// an exception.
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
