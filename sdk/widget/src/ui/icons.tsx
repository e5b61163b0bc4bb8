// Pictures of buttons. Their names are on the buttons.

function icon(path: string) {
  return () => (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
      <path d={path} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export const ChatIcon = icon('M21 12a8 8 0 0 1-8 8H4l2-3a8 8 0 1 1 15-5zM9 11h.01M13 11h.01M17 11h.01');
export const CloseIcon = icon('M6 6l12 12M18 6L6 18');
export const SendIcon = icon('M12 20V5M5 12l7-7 7 7');
export const StopIcon = icon('M7 7h10v10H7z');
export const MicrophoneIcon = icon('M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3zM19 11a7 7 0 0 1-14 0M12 18v3');
export const MutedIcon = icon('M9 9v3a3 3 0 0 0 5 2M15 9V6a3 3 0 0 0-6-1M19 11a7 7 0 0 1-11 5M12 18v3M4 4l16 16');
export const NewIcon = icon('M12 5v14M5 12h14');
